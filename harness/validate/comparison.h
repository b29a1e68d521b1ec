// Comparing words bit for bit. No floating-point comparison, no tolerance.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/machine/hex.h"

namespace mailbench {

struct Comparison {
  std::uint64_t compared = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t first = 0;  // index of the first mismatch, when there is one
};

// Throws std::invalid_argument when the sizes differ.
Comparison CompareWords(std::span<const std::uint32_t> expected,
                        std::span<const std::uint32_t> seen);

}  // namespace mailbench
