#include "harness/validate/comparison.h"

#include <stdexcept>

namespace mailbench {

Comparison CompareWords(std::span<const std::uint32_t> expected,
                        std::span<const std::uint32_t> seen) {
  if (expected.size() != seen.size()) {
    throw std::invalid_argument("comparing " + std::to_string(seen.size()) + " words with " +
                                std::to_string(expected.size()));
  }
  Comparison comparison;
  comparison.compared = expected.size();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == seen[i]) continue;
    if (comparison.mismatches++ == 0) comparison.first = i;
  }
  return comparison;
}

}  // namespace mailbench
