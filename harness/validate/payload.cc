#include "harness/validate/payload.h"

#include <cstddef>

namespace mailbench {

bool IsHardWord(std::uint32_t word) {
  for (std::uint32_t i = 0; i < kHardWords; ++i) {
    if (HardWord(i) == word) return true;
  }
  return false;
}

void FillPayload(std::span<std::uint32_t> words, std::uint64_t seed, std::uint64_t call, int rank) {
  const Payload payload(seed, call, rank);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = payload.word(i);
}

}  // namespace mailbench
