#include "harness/validate/origin.h"

#include <algorithm>

#include "harness/validate/payload.h"

namespace mailbench {
namespace {

std::string Name(const PayloadOrigin& origin, std::size_t at) {
  return "word " + std::to_string(origin.word + at) + " of rank " + std::to_string(origin.rank) +
         "'s input of call " + std::to_string(origin.call);
}

}  // namespace

std::vector<PayloadOrigin> FindOrigins(std::span<const std::uint32_t> seen, std::size_t most,
                                       const PayloadSpace& space) {
  std::vector<PayloadOrigin> found;
  for (std::uint64_t back = 0; back < space.calls && back <= space.newest_call; ++back) {
    for (int rank = 0; rank < space.ranks; ++rank) {
      const Payload payload(space.seed, space.newest_call - back, rank);
      for (std::uint64_t first = 0; first + seen.size() <= space.words_per_rank;
           first += seen.size()) {
        std::size_t i = 0;
        while (i < seen.size() && space.map(payload.word(first + i)) == seen[i]) ++i;
        if (i < seen.size()) continue;
        found.push_back({space.newest_call - back, rank, first});
        if (found.size() == most) return found;
      }
    }
  }
  return found;
}

std::string DescribeOrigin(std::span<const std::uint32_t> pack, std::size_t at,
                           const PayloadSpace& space) {
  const bool common = std::all_of(pack.begin(), pack.end(), IsHardWord);
  const std::vector<PayloadOrigin> packs = FindOrigins(pack, common ? 2 : 1, space);
  if (packs.size() > 1) {
    return "which was sent several times of late, last as " + Name(packs.front(), at);
  }
  if (!packs.empty()) return (common ? "which may be " : "which is ") + Name(packs.front(), at);
  if (IsHardWord(pack[at])) {
    return "a value that many calls send, in a pack that no recent call sent so";
  }
  const std::vector<PayloadOrigin> words = FindOrigins(pack.subspan(at, 1), 1, space);
  if (words.empty()) return "which no recent call sent";
  return "which is " + Name(words.front(), 0) + ", in a pack that was never sent so";
}

}  // namespace mailbench
