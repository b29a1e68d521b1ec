// Where a wrong value really came from: the rank, call and word whose payload it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

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

// The runs of payload words that equal `seen`, at multiples of seen.size(): the newest of them, at
// most `most`. Hard words alone, which many payloads hold, may be found by chance.
std::vector<PayloadOrigin> FindOrigins(std::span<const std::uint32_t> seen, std::size_t most,
                                       const PayloadSpace& space);

// The story of word `at` of a pack that was seen: "which is word 9 of rank 3's input of call 14".
// When the whole pack was never sent, the word alone is looked for, since a pack may be torn;
// unless it is a hard one. A pack of hard words alone is not said to be any one that was sent.
std::string DescribeOrigin(std::span<const std::uint32_t> pack, std::size_t at,
                           const PayloadSpace& space);

}  // namespace mailbench
