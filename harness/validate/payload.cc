#include "harness/validate/payload.h"

#include <array>
#include <cstddef>

namespace mailbench {
namespace {

constexpr std::array<std::uint32_t, 16> kHardWords = {
    0x80000000u,  // -0.0, INT32_MIN, a sentinel
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

}  // namespace

std::span<const std::uint32_t> HardWords() { return kHardWords; }

Payload::Payload(std::uint64_t seed, std::uint64_t call, int rank)
    : stream_(
          Mix(Mix(seed + kGolden) ^ Mix(call * kGolden + static_cast<std::uint64_t>(rank) + 1))) {}

std::uint32_t Payload::word(std::uint64_t index) const {
  const std::uint64_t bits = Mix(stream_ + (index + 1) * kGolden);
  const auto value = static_cast<std::uint32_t>(bits >> 32);
  return (bits & 1) != 0 ? kHardWords[(bits >> 1) % kHardWords.size()] : value;
}

void FillPayload(std::span<std::uint32_t> words, std::uint64_t seed, std::uint64_t call, int rank) {
  const Payload payload(seed, call, rank);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = payload.word(i);
}

}  // namespace mailbench
