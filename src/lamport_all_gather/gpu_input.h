// An input on a GPU for a kernel or a library that reads one contiguous piece of memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/lamport/gather_input.h"

namespace mailbench {

struct ReadyInput {
  const std::byte* data = nullptr;
  bool copied = false;
};

// The input itself where it is contiguous and aligned to `alignment` bytes; otherwise enqueues a
// copy to `staging` on the stream, to be captured with it. Throws SystemError.
ReadyInput ContiguousInput(const GatherInput& input, std::size_t alignment, std::byte* staging,
                           cudaStream_t stream);

}  // namespace mailbench
