#include "harness/floor/gpu_floor_call.h"

#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_executor.h"
#include "kernels/fabric_floor/gpu_floor.h"

namespace mailbench {

void EnqueueFloorOnGpu(FloorKind kind, const FloorArgs& args, GpuExecutor& executor) {
  MAILBENCH_CUDA(LaunchFloor(kind, args, executor.abort_word(), executor.stream()));
}

}  // namespace mailbench
