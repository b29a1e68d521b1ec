// The floor's kernels on a GPU executor. Needs no CUDA to be included.
#pragma once

#include "kernels/fabric_floor/layout.h"

namespace mailbench {

class GpuExecutor;

// Throws SystemError when the launch fails.
void EnqueueFloorOnGpu(FloorKind kind, const FloorArgs& args, GpuExecutor& executor);

}  // namespace mailbench
