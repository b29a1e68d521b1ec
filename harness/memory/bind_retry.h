// How long a bind to a multicast object is tried.
#pragma once

#include <chrono>

namespace mailbench {

// For binds that answer CUDA_ERROR_SYSTEM_NOT_READY: the fabric manager stalls now and then, for
// some seconds. All ranks try again together, after `pause`, and give up together once any of them
// has spent `limit`.
struct BindRetry {
  std::chrono::milliseconds pause{1000};
  std::chrono::milliseconds limit{15'000};
};

}  // namespace mailbench
