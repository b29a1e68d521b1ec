// The input of a gather, as a caller has it in memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mailbench {

// A rank's input: `rows` rows of `row_bytes`, `row_stride` bytes apart. Need not be aligned.
struct GatherInput {
  const std::byte* data = nullptr;
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;
  std::int64_t row_stride = 0;

  std::int64_t bytes() const { return rows * row_bytes; }
};

}  // namespace mailbench
