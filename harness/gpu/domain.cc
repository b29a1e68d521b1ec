#include "harness/gpu/domain.h"

#include <algorithm>
#include <cstddef>

#include "harness/gpu/gpu_facts_text.h"
#include "harness/gpu/placement.h"
#include "harness/ranks/rank_list.h"

namespace mailbench {
namespace {

enum class DomainKind { kCluster, kHost, kNone };

DomainKind KindOf(const FabricPlace& place) {
  if (!place.state || *place.state == kFabricNotSupported) return DomainKind::kHost;
  if (*place.state != kFabricCompleted || place.status != 0) return DomainKind::kNone;
  const bool is_zero = std::all_of(place.cluster.begin(), place.cluster.end(),
                                   [](char digit) { return digit == '0'; });
  return is_zero ? DomainKind::kHost : DomainKind::kCluster;
}

bool SameDomain(const FabricPlace& a, const FabricPlace& b, bool one_host) {
  const DomainKind kind = KindOf(a);
  if (kind != KindOf(b) || kind == DomainKind::kNone) return false;
  if (kind == DomainKind::kHost) return one_host;
  return a.cluster == b.cluster && a.clique == b.clique;
}

std::string Unready(const FabricPlace& place) {
  return "not registered with its NVLink fabric: " +
         (*place.state == kFabricCompleted ? "NVML status " + std::to_string(place.status)
                                           : FabricStateText(*place.state));
}

std::string Where(const FabricPlace& place) {
  switch (KindOf(place)) {
    case DomainKind::kCluster:
      return "cluster " + place.cluster + ", clique " + std::to_string(place.clique);
    case DomainKind::kHost:
      return place.state ? "the host's own NVLink" : "NVML says nothing of an NVLink fabric";
    case DomainKind::kNone:
      break;
  }
  return Unready(place);
}

// "ranks 0-3 on a: the host's own NVLink; rank 4 on b: ...", ranks of the same place once.
std::string WhoIsWhere(const std::vector<GpuFacts>& facts_by_rank,
                       const std::vector<std::string>& hosts) {
  struct Place {
    std::string text;
    std::vector<int> ranks;
  };
  std::vector<Place> places;
  for (std::size_t rank = 0; rank < facts_by_rank.size(); ++rank) {
    const std::string text = " on " + hosts[rank] + ": " + Where(facts_by_rank[rank].place);
    auto place = std::find_if(places.begin(), places.end(),
                              [&](const Place& known) { return known.text == text; });
    if (place == places.end()) place = places.insert(place, {text, {}});
    place->ranks.push_back(static_cast<int>(rank));
  }
  std::string all;
  for (const Place& place : places) {
    all += (all.empty() ? "" : "; ") + RankList(place.ranks) + place.text;
  }
  return all;
}

}  // namespace

std::string DomainRefusal(const std::vector<GpuFacts>& facts_by_rank,
                          const std::vector<std::string>& hosts) {
  const FabricPlace& first = facts_by_rank.front().place;
  for (std::size_t rank = 0; rank < facts_by_rank.size(); ++rank) {
    if (!SameDomain(first, facts_by_rank[rank].place, hosts[rank] == hosts.front())) {
      return "the ranks are not in one NVLink domain: " + WhoIsWhere(facts_by_rank, hosts);
    }
  }
  return "";
}

std::string MulticastRefusal(const std::vector<GpuFacts>& facts_by_rank,
                             const std::vector<std::string>& hosts) {
  if (facts_by_rank.size() == 1) return "a single rank has nobody to multicast to";
  for (std::size_t rank = 0; rank < facts_by_rank.size(); ++rank) {
    const GpuFacts& gpu = facts_by_rank[rank];
    if (gpu.multicast) continue;
    return "the GPU of rank " + std::to_string(rank) + " (" + gpu.name +
           ") has no multicast (CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED is 0)";
  }
  for (const std::vector<int>& group : RanksByGpu(facts_by_rank)) {
    if (group.size() == 1) continue;
    return RankList(group) + " share one GPU, and a multicast object takes a device once";
  }
  return DomainRefusal(facts_by_rank, hosts);
}

}  // namespace mailbench
