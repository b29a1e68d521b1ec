// Payloads whose every word tells where it comes from: a counter hash of seed, call, rank and word.
// Half of the words are drawn from the values that kernels get wrong instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace mailbench {

// The sentinel of Lamport mailboxes, which as FP32 is -0.0; +0.0; NaNs, quiet, signalling and with
// all bits set; infinities; subnormals of either sign; the same in BF16 pairs.
std::span<const std::uint32_t> HardWords();

// Word `word` of what `rank` contributes to call number `call`.
std::uint32_t PayloadWord(std::uint64_t seed, std::uint64_t call, int rank, std::uint64_t word);

void FillPayload(std::span<std::uint32_t> words, std::uint64_t seed, std::uint64_t call, int rank);

// What a protocol does to a payload word on its way: identity, or the sentinel to zero.
using WordMap = std::uint32_t (*)(std::uint32_t);

struct PayloadOrigin {
  std::uint64_t call;
  int rank;
  std::uint64_t word;  // of that rank's input
};

// Where `seen` comes from: the start of the only run of payload words that equals it, looked for in
// the last `calls` calls up to `newest_call` of every rank, at multiples of seen.size(). Nothing
// when there is none, or when `seen` consists of hard words only, which many payloads hold.
std::optional<PayloadOrigin> FindOrigin(std::span<const std::uint32_t> seen, std::uint64_t seed,
                                        std::uint64_t newest_call, std::uint64_t calls, int ranks,
                                        std::uint64_t words_per_rank, WordMap map);

}  // namespace mailbench
