#include "src/lamport_all_gather/gpu_input.h"

#include <cstdint>

#include "harness/gpu/cuda_error.h"

namespace mailbench {

ReadyInput ContiguousInput(const GatherInput& input, std::size_t alignment, std::byte* staging,
                           cudaStream_t stream) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(input.data) % alignment == 0;
  if (input.rows == 1 && aligned) return {input.data, false};
  const auto row_bytes = static_cast<std::size_t>(input.row_bytes);
  MAILBENCH_CUDA(cudaMemcpy2DAsync(
      staging, row_bytes, input.data, static_cast<std::size_t>(input.row_stride), row_bytes,
      static_cast<std::size_t>(input.rows), cudaMemcpyDeviceToDevice, stream));
  return {staging, true};
}

}  // namespace mailbench
