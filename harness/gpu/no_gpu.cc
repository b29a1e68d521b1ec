// What takes the place of the GPU's code where no CUDA toolkit was found.
#include "harness/error.h"
#include "harness/gpu/gpu_transport.h"

namespace mailbench {

std::unique_ptr<Transport> MakeGpuTransport(const RunConfig& /*config*/, const Ranks& /*ranks*/,
                                            GpuMemory /*memory*/) {
  throw MachineError("this build has no GPU code: no CUDA toolkit of 12.9 or later was found");
}

}  // namespace mailbench
