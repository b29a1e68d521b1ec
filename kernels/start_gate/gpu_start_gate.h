// The start gate on a GPU: a kernel that waits, one that releases, and one behind what is timed,
// each a CTA of one warp or less, so that those of all ranks fit on a GPU that they share.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/start_gate/layout.h"

namespace mailbench {

// Loads the kernels. Call it before the first wait is launched: a kernel is otherwise loaded at
// its first launch, which may wait for the kernels that run ("CUDA C++ Programming Guide", "Lazy
// Loading"), and those that wait for the gate would never end.
cudaError_t LoadStartGate();

// Nanoseconds of %globaltimer.
struct GateTimes {
  std::uint64_t released;  // the wait was over
  std::uint64_t ended;     // what stood behind it, too
};

// What follows on `stream` starts when the generation was released: the kernel never permits
// dependents to start early. It reads `*generation`, host memory that the device maps, when it
// starts: a recorded wait can be replayed for one generation after the other. Gives up once
// `*abort_word`, unless null, is not 0. Sets times->released; `times` is memory that
// the device reaches.
cudaError_t LaunchAwaitRelease(const Latch* own, const std::uint32_t* generation, GateTimes* times,
                               const std::uint32_t* abort_word, cudaStream_t stream);

// Sets times->ended once all that precedes it on `stream` has ended.
cudaError_t LaunchNoteEnd(GateTimes* times, cudaStream_t stream);

// REQUIRES: `stream` is not blocked by one on which a rank waits.
cudaError_t LaunchRelease(const StartGateView& gate, std::uint32_t generation, cudaStream_t stream);

}  // namespace mailbench
