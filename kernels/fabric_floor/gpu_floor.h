// The floor's kernels on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/fabric_floor/layout.h"

namespace mailbench {

// Launches one call on `stream`, with programmatic stream serialisation, as collectives are
// launched. May be captured. `abort_word`: see GpuMachine; may be null. REQUIRES: args.multicast is
// null or a multicast mapping of all shares.
cudaError_t LaunchFloor(FloorKind kind, const FloorArgs& args, const std::uint32_t* abort_word,
                        cudaStream_t stream);

}  // namespace mailbench
