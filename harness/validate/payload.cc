#include "harness/validate/payload.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mailbench {
namespace {

constexpr std::array<std::uint32_t, 16> kHardWords = {
    0x80000000u,  // -0.0, INT32_MIN, the sentinel
    0x00000000u,  // +0.0
    0x7fc00000u,  // quiet NaN
    0xffc00000u,  // quiet NaN, negative
    0x7f800001u,  // signalling NaN
    0xffffffffu,  // NaN with every bit set
    0x7f800000u,  // infinity
    0xff800000u,  // -infinity
    0x00000001u,  // smallest subnormal
    0x80000001u,  // the same, negative: a flush to zero turns it into the sentinel
    0x007fffffu,  // largest subnormal
    0x807fffffu,  // the same, negative
    0x80008000u,  // BF16 pair -0.0, -0.0
    0x00008000u,  // BF16 pair -0.0, +0.0
    0x7fff8000u,  // BF16 pair -0.0, NaN
    0x80018001u,  // BF16 pair of subnormals
};

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): each input bit reaches every output bit.
constexpr std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

std::uint64_t Stream(std::uint64_t seed, std::uint64_t call, int rank) {
  return Mix(Mix(seed + kGolden) ^ Mix(call * kGolden + static_cast<std::uint64_t>(rank) + 1));
}

constexpr std::uint32_t Word(std::uint64_t stream, std::uint64_t word) {
  const std::uint64_t bits = Mix(stream + (word + 1) * kGolden);
  const auto value = static_cast<std::uint32_t>(bits >> 32);
  return (bits & 1) != 0 ? kHardWords[(bits >> 1) % kHardWords.size()] : value;
}

}  // namespace

std::span<const std::uint32_t> HardWords() { return kHardWords; }

std::uint32_t PayloadWord(std::uint64_t seed, std::uint64_t call, int rank, std::uint64_t word) {
  return Word(Stream(seed, call, rank), word);
}

void FillPayload(std::span<std::uint32_t> words, std::uint64_t seed, std::uint64_t call, int rank) {
  const std::uint64_t stream = Stream(seed, call, rank);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = Word(stream, i);
}

std::optional<PayloadOrigin> FindOrigin(std::span<const std::uint32_t> seen, std::uint64_t seed,
                                        std::uint64_t newest_call, std::uint64_t calls, int ranks,
                                        std::uint64_t words_per_rank, WordMap map) {
  const auto is_hard = [](std::uint32_t word) {
    return std::find(kHardWords.begin(), kHardWords.end(), word) != kHardWords.end();
  };
  if (seen.empty() || std::all_of(seen.begin(), seen.end(), is_hard)) return std::nullopt;
  for (std::uint64_t back = 0; back < calls && back <= newest_call; ++back) {
    for (int rank = 0; rank < ranks; ++rank) {
      const std::uint64_t call = newest_call - back;
      const std::uint64_t stream = Stream(seed, call, rank);
      for (std::uint64_t first = 0; first + seen.size() <= words_per_rank; first += seen.size()) {
        std::size_t i = 0;
        while (i < seen.size() && map(Word(stream, first + i)) == seen[i]) ++i;
        if (i == seen.size()) return PayloadOrigin{call, rank, first};
      }
    }
  }
  return std::nullopt;
}

}  // namespace mailbench
