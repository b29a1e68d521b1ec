// Payloads whose every word tells where it comes from: a counter hash of seed, call, rank and word.
// Half of the words are drawn from the values that kernels get wrong instead.
#pragma once

#include <cstdint>
#include <span>

namespace mailbench {

// 0x80000000, which is -0.0 as FP32 and the sentinel of some mailboxes; +0.0; NaNs, quiet,
// signalling and with all bits set; infinities; subnormals of either sign; the same in BF16 pairs.
std::span<const std::uint32_t> HardWords();

// What `rank` contributes to call number `call`.
class Payload {
 public:
  Payload(std::uint64_t seed, std::uint64_t call, int rank);
  std::uint32_t word(std::uint64_t index) const;

 private:
  std::uint64_t stream_;
};

void FillPayload(std::span<std::uint32_t> words, std::uint64_t seed, std::uint64_t call, int rank);

}  // namespace mailbench
