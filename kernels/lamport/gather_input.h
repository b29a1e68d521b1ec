// The input of a gather, as a caller has it in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/machine/pack.h"

namespace mailbench {

// A rank's input: `rows` rows of `row_bytes`, `row_stride` bytes apart. Need not be aligned.
struct GatherInput {
  const std::byte* data = nullptr;
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;
  std::int64_t row_stride = 0;

  std::int64_t bytes() const { return rows * row_bytes; }
};

// Whether a kernel can read it where it is, as packs.
inline bool ReadableInPlace(const GatherInput& input) {
  const bool contiguous = input.rows == 1 || input.row_stride == input.row_bytes;
  return contiguous && reinterpret_cast<std::uintptr_t>(input.data) % kPackBytes == 0;
}

inline void CopyRows(const GatherInput& input, Pack* to) {
  auto* bytes = reinterpret_cast<std::byte*>(to);
  for (std::int64_t row = 0; row < input.rows; ++row) {
    std::memcpy(bytes + row * input.row_bytes, input.data + row * input.row_stride,
                static_cast<std::size_t>(input.row_bytes));
  }
}

}  // namespace mailbench
