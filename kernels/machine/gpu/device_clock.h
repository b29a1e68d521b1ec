// What has to be known of a GPU's clock (%globaltimer) to compare its times with others'.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace mailbench {

// Both in host memory that the GPU maps, zero before the launch.
struct ClockEcho {
  std::uint32_t* ask;     // the host counts it up from 1, one question at a time
  std::uint64_t* answer;  // the GPU's time at which it saw the question; the host clears it
};

// A kernel of one thread that answers `questions` questions. It gives up when there is none for
// `patience_ns`, so that it never outlives a host that has failed.
cudaError_t LaunchClockEcho(const ClockEcho& echo, std::uint32_t questions,
                            std::uint64_t patience_ns, cudaStream_t stream);

// A kernel that watches the clock go on, and stores the smallest of 100 steps, nanoseconds.
cudaError_t LaunchClockSteps(std::uint64_t* smallest, cudaStream_t stream);

// A kernel of one thread that lasts for `ns` by the GPU's clock.
cudaError_t LaunchDelay(std::uint64_t ns, cudaStream_t stream);

// The same, but for as long as DrawDelayNs draws when it runs. `state`: in the GPU's memory.
cudaError_t LaunchDrawnDelay(std::uint64_t* state, cudaStream_t stream);

}  // namespace mailbench
