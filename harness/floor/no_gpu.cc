// What takes the place of the GPU's call where no CUDA toolkit was found: no executor leads here.
#include <stdexcept>

#include "harness/floor/gpu_floor_call.h"

namespace mailbench {

void EnqueueFloorOnGpu(FloorKind /*kind*/, const FloorArgs& /*args*/, GpuExecutor& /*executor*/) {
  throw std::logic_error("built without GPU code");
}

}  // namespace mailbench
