// Which rank takes which GPU, and who shares one: plain arithmetic, free of CUDA.
#pragma once

#include <string>
#include <vector>

#include "harness/gpu/gpu_facts.h"

namespace mailbench {

// Why this GPU cannot be used, "" when it can. `one_host`: all ranks are on one.
std::string GpuRefusal(const GpuFacts& gpu, bool one_host);

// How many ranks below `rank` are on its host. `hosts` by rank.
int LocalRank(const std::vector<std::string>& hosts, int rank);

// The device that a rank takes: `ranks_per_gpu` neighbours share one, and further ranks start
// again at device 0. REQUIRES: ranks_per_gpu and visible_devices positive.
int DeviceIndex(int local_rank, int ranks_per_gpu, int visible_devices);

// The ranks on each GPU, ascending; GPUs in the order of their lowest rank. One GPU is one UUID:
// what each process calls device 0 may differ.
std::vector<std::vector<int>> RanksByGpu(const std::vector<GpuFacts>& facts_by_rank);

// Why this placement cannot be run; "" when it can. The same on all ranks.
std::string PlacementRefusal(const std::vector<GpuFacts>& facts_by_rank, int ranks_per_gpu);

}  // namespace mailbench
