// Which kernels a captured CUDA graph runs: how a report knows what a library really launched.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <vector>

#include "harness/gpu/driver.h"
#include "harness/launch/executor.h"

namespace mailbench {

// A kernel's name without its return type and parameters: "ncclSymkDevKernel_AllGather_LL",
// "mailbench::AllGather<8>". `symbol` is the mangled name (or a plain one, which stays as it is).
std::string KernelName(const std::string& symbol);

// The kernel nodes of a graph, each name once, in the order in which the graph lists the first of
// that name. Needs no launch. Throws SystemError.
std::vector<KernelCount> KernelsOf(const DriverTable& driver, cudaGraph_t graph);

}  // namespace mailbench
