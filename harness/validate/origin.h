// Where a wrong value really came from: the rank, call and word whose payload it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace mailbench {

// What a protocol does to a payload word on its way: identity, or the sentinel to zero.
using WordMap = std::function<std::uint32_t(std::uint32_t)>;

// The payloads that a value may come from: those of the last `calls` calls up to `newest_call`, of
// every rank, as `map` lets them arrive.
struct PayloadSpace {
  std::uint64_t seed = 0;
  std::uint64_t newest_call = 0;
  std::uint64_t calls = 1;
  int ranks = 1;
  std::uint64_t words_per_rank = 0;
  WordMap map;
};

struct PayloadOrigin {
  std::uint64_t call;
  int rank;
  std::uint64_t word;  // of that rank's input
};

// The newest run of payload words that equals `seen`, at a multiple of seen.size(). Nothing when
// there is none, or when `seen` consists of hard words only, which many payloads hold.
std::optional<PayloadOrigin> FindOrigin(std::span<const std::uint32_t> seen,
                                        const PayloadSpace& space);

// The story of word `at` of a pack that was seen: "which is word 9 of rank 3's input of call 14".
// When the whole pack was never sent, the word alone is looked for: a pack may be torn.
std::string DescribeOrigin(std::span<const std::uint32_t> pack, std::size_t at,
                           const PayloadSpace& space);

}  // namespace mailbench
