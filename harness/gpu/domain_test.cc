#include "harness/gpu/domain.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mailbench {
namespace {

const std::string kUuid = "0123456789abcdef0123456789abcdef";
const std::string kOther = "fedcba98765432100123456789abcdef";
const std::string kZero(32, '0');

// Ranks of a job, added one after the other, each with a GPU of its own.
struct Job {
  std::vector<GpuFacts> facts;
  std::vector<std::string> hosts;

  Job& Add(int count, const std::string& host, const FabricPlace& place) {
    for (int i = 0; i < count; ++i) {
      GpuFacts& gpu = facts.emplace_back();
      gpu.name = "GPU model";
      gpu.uuid = "GPU-" + std::to_string(facts.size());
      gpu.multicast = true;
      gpu.place = place;
      hosts.push_back(host);
    }
    return *this;
  }
  std::string Domain() const { return DomainRefusal(facts, hosts); }
  std::string Multicast() const { return MulticastRefusal(facts, hosts); }
};

FabricPlace InCluster(const std::string& cluster, std::uint32_t clique) {
  return {.state = 3, .status = 0, .cluster = cluster, .clique = clique};
}
FabricPlace Hgx() { return InCluster(kZero, 0); }
FabricPlace InState(int state) {
  return {.state = state, .status = 0, .cluster = kUuid, .clique = 1};
}

TEST(DomainRefusal, ARackIsOneDomain) {
  Job rack;
  for (int host = 0; host < 18; ++host) {
    rack.Add(4, "n" + std::to_string(host), InCluster(kUuid, 7));
  }
  EXPECT_EQ(rack.Domain(), "");
}

TEST(DomainRefusal, AnHgxBoardIsOneDomainAndTwoAreTwo) {
  EXPECT_EQ(Job().Add(8, "a", Hgx()).Domain(), "");
  EXPECT_EQ(Job().Add(8, "a", Hgx()).Add(8, "b", Hgx()).Domain(),
            "the ranks are not in one NVLink domain: ranks 0-7 on a: the host's own NVLink; ranks "
            "8-15 on b: the host's own NVLink");
}

TEST(DomainRefusal, WithoutAWordFromNvmlAHostIsADomain) {
  EXPECT_EQ(Job().Add(2, "a", {}).Domain(), "");
  EXPECT_EQ(Job().Add(1, "a", {}).Add(1, "a", InState(0)).Add(1, "a", Hgx()).Domain(), "");
  EXPECT_EQ(Job().Add(2, "a", {}).Add(1, "b", {}).Add(1, "b", InState(0)).Domain(),
            "the ranks are not in one NVLink domain: ranks 0, 1 on a: NVML says nothing of "
            "an NVLink fabric; rank 2 on b: NVML says nothing of an NVLink fabric; rank 3 on b: "
            "the host's own NVLink");
}

TEST(DomainRefusal, ClusterAndCliqueBothCount) {
  EXPECT_EQ(Job().Add(2, "a", InCluster(kUuid, 1)).Add(2, "b", InCluster(kUuid, 2)).Domain(),
            "the ranks are not in one NVLink domain: ranks 0, 1 on a: cluster " + kUuid +
                ", clique 1; ranks 2, 3 on b: cluster " + kUuid + ", clique 2");
  EXPECT_NE(Job().Add(2, "a", InCluster(kUuid, 1)).Add(2, "b", InCluster(kOther, 1)).Domain(), "");
  // Partitions of one host are no exception.
  EXPECT_NE(Job().Add(2, "a", InCluster(kUuid, 1)).Add(2, "a", InCluster(kUuid, 2)).Domain(), "");
}

TEST(DomainRefusal, AClusterAndAHostAreNotOneDomain) {
  EXPECT_NE(Job().Add(1, "a", InCluster(kUuid, 0)).Add(1, "a", Hgx()).Domain(), "");
  EXPECT_NE(Job().Add(1, "a", Hgx()).Add(1, "a", InCluster(kUuid, 0)).Domain(), "");
}

TEST(DomainRefusal, AGpuThatHasNotRegisteredIsInNoDomain) {
  EXPECT_EQ(Job().Add(1, "a", InState(1)).Domain(),
            "the ranks are not in one NVLink domain: rank 0 on a: not registered with its NVLink "
            "fabric: not started");
  EXPECT_NE(Job()
                .Add(4, "a", InState(2))
                .Domain()
                .find("ranks 0-3 on a: not registered with its "
                      "NVLink fabric: in progress"),
            std::string::npos);
  FabricPlace failed = InCluster(kUuid, 1);
  failed.status = 999;
  EXPECT_NE(Job()
                .Add(1, "a", InCluster(kUuid, 1))
                .Add(1, "a", failed)
                .Domain()
                .find("rank 1 on a: not registered with its NVLink fabric: NVML status 999"),
            std::string::npos);
  FabricPlace failed_board = Hgx();
  failed_board.status = 1;
  EXPECT_NE(Job().Add(2, "a", failed_board).Domain(), "");
  EXPECT_NE(Job().Add(2, "a", InState(9)).Domain().find("NVLink fabric: state 9"),
            std::string::npos);
}

TEST(DomainRefusal, FoldsRanksOfOnePlaceThatAreNotNeighbours) {
  const FabricPlace here = InCluster(kUuid, 1);
  Job job;
  for (int i = 0; i < 3; ++i) job.Add(1, "a", here).Add(1, "b", InCluster(kUuid, 2));
  EXPECT_EQ(job.Domain(), "the ranks are not in one NVLink domain: ranks 0, 2, 4 on a: cluster " +
                              kUuid + ", clique 1; ranks 1, 3, 5 on b: cluster " + kUuid +
                              ", clique 2");
}

TEST(MulticastRefusal, AllowsABoardAndARack) {
  EXPECT_EQ(Job().Add(2, "a", Hgx()).Multicast(), "");
  EXPECT_EQ(Job().Add(4, "a", InCluster(kUuid, 1)).Add(4, "b", InCluster(kUuid, 1)).Multicast(),
            "");
}

TEST(MulticastRefusal, ASingleRank) {
  EXPECT_EQ(Job().Add(1, "a", Hgx()).Multicast(), "a single rank has nobody to multicast to");
}

TEST(MulticastRefusal, NamesTheGpuThatLacksIt) {
  Job job;
  job.Add(3, "a", Hgx());
  job.facts[1].multicast = false;
  EXPECT_EQ(job.Multicast(),
            "the GPU of rank 1 (GPU model) has no multicast "
            "(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0)");
}

TEST(MulticastRefusal, RanksThatShareAGpu) {
  Job job;
  job.Add(4, "a", Hgx());
  job.facts[3].uuid = job.facts[1].uuid;
  EXPECT_EQ(job.Multicast(),
            "ranks 1, 3 share one GPU, and a multicast object takes a device once");
}

TEST(MulticastRefusal, SeveralDomains) {
  const Job job = Job().Add(2, "a", Hgx()).Add(2, "b", Hgx());
  EXPECT_EQ(job.Multicast(), job.Domain());
  EXPECT_NE(job.Multicast(), "");
}

}  // namespace
}  // namespace mailbench
