// Payloads whose every word tells where it comes from: a counter hash of seed, call, rank and word.
// Half of the words are drawn from the values that kernels get wrong instead. Computed alike by the
// host and on a GPU.
#pragma once

#include <cstdint>

#include "kernels/machine/annotations.h"

namespace mailbench {

inline constexpr std::uint32_t kHardWords = 16;

// 0x80000000, which is -0.0 as FP32 and the sentinel of some mailboxes; +0.0; NaNs, quiet,
// signalling and with all bits set; infinities; subnormals of either sign; the same in BF16 pairs.
// REQUIRES: index < kHardWords.
MAILBENCH_HOST_DEVICE std::uint32_t HardWord(std::uint32_t index) {
  static constexpr std::uint32_t kWords[kHardWords] = {
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
  return kWords[index];
}

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): each input bit reaches every output bit.
MAILBENCH_HOST_DEVICE std::uint64_t MixBits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// What `rank` contributes to call number `call`.
class Payload {
 public:
  MAILBENCH_HOST_DEVICE Payload(std::uint64_t seed, std::uint64_t call, int rank)
      : stream_(MixBits(MixBits(seed + kGolden) ^
                        MixBits(call * kGolden + static_cast<std::uint64_t>(rank) + 1))) {}

  MAILBENCH_HOST_DEVICE std::uint32_t word(std::uint64_t index) const {
    const std::uint64_t bits = MixBits(stream_ + (index + 1) * kGolden);
    const auto value = static_cast<std::uint32_t>(bits >> 32);
    return (bits & 1) != 0 ? HardWord(static_cast<std::uint32_t>(bits >> 1) % kHardWords) : value;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u;

  std::uint64_t stream_;
};

}  // namespace mailbench
