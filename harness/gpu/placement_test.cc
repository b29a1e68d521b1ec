#include "harness/gpu/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/gpu/device.h"

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<GpuFacts> Facts(const std::vector<std::string>& uuids) {
  std::vector<GpuFacts> facts;
  for (const std::string& uuid : uuids) {
    GpuFacts& own = facts.emplace_back();
    own.name = "NVIDIA H200";
    own.uuid = uuid;
    own.multiprocessors = uuid == "GPU-a" ? 132 : 114;
  }
  return facts;
}

TEST(Placement, AGpuIsUsedWhenItHasWhatIsNeeded) {
  GpuFacts good;
  good.name = "NVIDIA H200";
  good.uuid = "GPU-a";
  good.compute_major = 9;
  good.virtual_memory = good.posix_fd = true;
  EXPECT_EQ(GpuRefusal(good, true), "");
  EXPECT_EQ(GpuRefusal(good, false),
            "NVIDIA H200 GPU-a cannot share memory with another host: it has no FABRIC handles");
  good.fabric = true;
  EXPECT_EQ(GpuRefusal(good, false), "");
  good.posix_fd = false;
  EXPECT_EQ(GpuRefusal(good, false), "");
  EXPECT_EQ(GpuRefusal(good, true),
            "NVIDIA H200 GPU-a cannot export memory as a POSIX file descriptor");
  good.virtual_memory = false;
  EXPECT_EQ(GpuRefusal(good, false),
            "NVIDIA H200 GPU-a has no virtual memory management (cuMemCreate)");
  GpuFacts old;
  old.name = "NVIDIA A100";
  old.uuid = "GPU-b";
  old.compute_major = 8;
  old.virtual_memory = old.posix_fd = true;
  EXPECT_EQ(GpuRefusal(old, true),
            "NVIDIA A100 GPU-b has compute capability 8.0: the kernels need 9.0 (Hopper) or newer");
}

TEST(Placement, CountsRanksOfTheOwnHostOnly) {
  const std::vector<std::string> hosts = {"x", "y", "x", "x", "y"};
  std::vector<int> local;
  for (int rank = 0; rank < 5; ++rank) local.push_back(LocalRank(hosts, rank));
  EXPECT_THAT(local, ElementsAre(0, 0, 1, 2, 1));
}

TEST(Placement, NeighboursShareAGpuAndFurtherRanksStartAgain) {
  std::vector<int> one;
  std::vector<int> two;
  for (int local = 0; local < 6; ++local) {
    one.push_back(DeviceIndex(local, 1, 4));
    two.push_back(DeviceIndex(local, 2, 2));
  }
  EXPECT_THAT(one, ElementsAre(0, 1, 2, 3, 0, 1));
  EXPECT_THAT(two, ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST(Placement, GroupsByUuidInTheOrderOfTheLowestRank) {
  EXPECT_THAT(RanksByGpu(Facts({"GPU-b", "GPU-a", "GPU-b", "GPU-c"})),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1), ElementsAre(3)));
}

TEST(Placement, RefusesMoreRanksOnAGpuThanAllowed) {
  const std::vector<GpuFacts> facts = Facts({"GPU-a", "GPU-b", "GPU-b", "GPU-b"});
  EXPECT_EQ(PlacementRefusal(facts, 3), "");
  EXPECT_EQ(PlacementRefusal(facts, 2),
            "ranks 1-3 share one GPU (NVIDIA H200 GPU-b), which is more than --ranks-per-gpu 2 "
            "allows");
}

TEST(Placement, RefusesSeveralInstancesOfMig) {
  std::vector<GpuFacts> facts = Facts({"MIG-a", "MIG-b"});
  for (GpuFacts& each : facts) each.mig = true;
  EXPECT_EQ(PlacementRefusal(facts, 1),
            "MIG is on, and its instances cannot reach one another's memory: rank 0 on NVIDIA H200 "
            "MIG-a");
  facts[1].uuid = "MIG-a";
  EXPECT_EQ(PlacementRefusal(facts, 2), "");
}

TEST(Device, KnowsWhoSharesWhat) {
  const Device device(Facts({"GPU-a", "GPU-b", "GPU-a", "GPU-b", "GPU-b"}), 2);
  EXPECT_EQ(device.facts().uuid, "GPU-a");
  EXPECT_EQ(device.most_ranks_on_a_gpu(), 3);
  EXPECT_EQ(device.fewest_multiprocessors(), 114);
}

}  // namespace
}  // namespace mailbench
