// Which kernels a captured CUDA graph runs: how a report knows what a library really launched.
#pragma once

#include <cuda_runtime_api.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/launch/executor.h"

namespace mailbench {

// A kernel's name without its return type and parameters: "ncclSymkDevKernel_AllGather_LL",
// "mailbench::AllGather<8>". `symbol` is the mangled name (or a plain one, which stays as it is).
std::string KernelName(const std::string& symbol);

// The kernel nodes of a graph, each name once, in the order in which the graph lists the first of
// that name. Needs no launch. Throws SystemError when CUDA refuses a call, MachineError when the
// driver is too old to tell names (cuFuncGetName is of CUDA 12.3).
std::vector<KernelCount> KernelNames(cudaGraph_t graph);

// "ncclSymkDevKernel_AllGather_LL x 10, ncclDevKernel_Generic"; "" for none.
std::string KernelNamesText(std::span<const KernelCount> kernels);

}  // namespace mailbench
