#include "harness/gpu/placement.h"

#include <algorithm>
#include <cstddef>

#include "harness/ranks/rank_list.h"

namespace mailbench {

std::string GpuRefusal(const GpuFacts& gpu, bool one_host) {
  constexpr int kLeastComputeMajor = 9;  // what the kernels are built for: scripts/cmake
  const std::string name = gpu.name + " " + gpu.uuid;
  if (gpu.compute_major < kLeastComputeMajor) {
    return name + " has compute capability " + std::to_string(gpu.compute_major) + "." +
           std::to_string(gpu.compute_minor) + ": the kernels need " +
           std::to_string(kLeastComputeMajor) + ".0 (Hopper) or newer";
  }
  if (!gpu.virtual_memory) return name + " has no virtual memory management (cuMemCreate)";
  if (one_host && !gpu.posix_fd) return name + " cannot export memory as a POSIX file descriptor";
  if (!one_host && !gpu.fabric) {
    return name + " cannot share memory with another host: it has no FABRIC handles";
  }
  return "";
}

int LocalRank(const std::vector<std::string>& hosts, int rank) {
  const auto own = hosts.begin() + rank;
  return static_cast<int>(std::count(hosts.begin(), own, *own));
}

int DeviceIndex(int local_rank, int ranks_per_gpu, int visible_devices) {
  return local_rank / ranks_per_gpu % visible_devices;
}

std::vector<std::vector<int>> RanksByGpu(const std::vector<GpuFacts>& facts_by_rank) {
  std::vector<std::vector<int>> groups;
  for (std::size_t rank = 0; rank < facts_by_rank.size(); ++rank) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& known) {
      return facts_by_rank[static_cast<std::size_t>(known.front())].uuid ==
             facts_by_rank[rank].uuid;
    });
    if (group == groups.end()) group = groups.insert(group, std::vector<int>());
    group->push_back(static_cast<int>(rank));
  }
  return groups;
}

std::string PlacementRefusal(const std::vector<GpuFacts>& facts_by_rank, int ranks_per_gpu) {
  const std::vector<std::vector<int>> groups = RanksByGpu(facts_by_rank);
  for (const std::vector<int>& group : groups) {
    const GpuFacts& gpu = facts_by_rank[static_cast<std::size_t>(group.front())];
    const std::string name = gpu.name + " " + gpu.uuid;
    if (group.size() > static_cast<std::size_t>(ranks_per_gpu)) {
      return RankList(group) + " share one GPU (" + name +
             "), which is more than --ranks-per-gpu " + std::to_string(ranks_per_gpu) + " allows";
    }
    if (gpu.mig && groups.size() > 1) {
      return "MIG is on, and its instances cannot reach one another's memory: " + RankList(group) +
             " on " + name;
    }
  }
  return "";
}

}  // namespace mailbench
