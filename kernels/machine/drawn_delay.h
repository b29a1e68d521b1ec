// Delays that are drawn where they pass, so that each replay of a graph has others. Computed alike
// by the host and on a GPU.
#pragma once

#include <cstdint>

#include "kernels/machine/annotations.h"

namespace mailbench {

inline constexpr std::uint64_t kShortestDrawnDelayNs = 160;
inline constexpr std::uint64_t kLongestDrawnDelayNs = 20'480;

// The next of a sequence that follows from what was first in `state`: from the shortest to the
// longest, small ones as often as large ones.
MAILBENCH_HOST_DEVICE std::uint64_t DrawDelayNs(std::uint64_t* state) {
  constexpr std::uint64_t kOctaves = 7;
  static_assert(kShortestDrawnDelayNs << kOctaves == kLongestDrawnDelayNs);
  constexpr std::uint64_t kParts = 1024;                          // of an octave
  *state = *state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
  const std::uint64_t bits = *state >> 32;                        // the lower ones repeat soon
  const std::uint64_t least = kShortestDrawnDelayNs << (bits % kOctaves);
  return least + least * (bits / kOctaves % kParts) / kParts;
}

}  // namespace mailbench
