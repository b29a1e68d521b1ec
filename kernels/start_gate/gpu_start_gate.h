// The start gate on a GPU: one kernel that waits, one that releases, each a CTA of one warp or
// less, so that those of all ranks fit on a GPU that they share.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/start_gate/layout.h"

namespace mailbench {

// Loads both kernels. Call it before the first wait is launched: a kernel is otherwise loaded at
// its first launch, which may wait for the kernels that run ("CUDA C++ Programming Guide", "Lazy
// Loading"), and those that wait for the gate would never end.
cudaError_t LoadStartGate();

// What follows on `stream` starts when the generation was released: the kernel never permits
// dependents to start early. Gives up once `*abort_word`, unless null, is not 0.
cudaError_t LaunchAwaitRelease(const Latch* own, std::uint32_t generation,
                               const std::uint32_t* abort_word, cudaStream_t stream);

// REQUIRES: `stream` is not blocked by one on which a rank waits.
cudaError_t LaunchRelease(const StartGateView& gate, std::uint32_t generation, cudaStream_t stream);

}  // namespace mailbench
