// Launches that may start before what precedes them on their stream has ended.
#pragma once

#include <cuda_runtime_api.h>

namespace mailbench {

// With programmatic stream serialisation ("CUDA C++ Programming Guide", "Programmatic Dependent
// Launch and Synchronization"): the grid starts once its predecessor permits it, and has to wait
// by itself (grid_dependency_wait) for what that has written.
template <class Kernel, class... Args>
cudaError_t LaunchDependent(Kernel kernel, int ctas, int threads, cudaStream_t stream,
                            const Args&... args) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(ctas));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, args...);
}

}  // namespace mailbench
