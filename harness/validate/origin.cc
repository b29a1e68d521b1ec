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

std::optional<PayloadOrigin> FindOrigin(std::span<const std::uint32_t> seen,
                                        const PayloadSpace& space) {
  if (seen.empty() || std::all_of(seen.begin(), seen.end(), IsHardWord)) return std::nullopt;
  for (std::uint64_t back = 0; back < space.calls && back <= space.newest_call; ++back) {
    for (int rank = 0; rank < space.ranks; ++rank) {
      const Payload payload(space.seed, space.newest_call - back, rank);
      for (std::uint64_t first = 0; first + seen.size() <= space.words_per_rank;
           first += seen.size()) {
        std::size_t i = 0;
        while (i < seen.size() && space.map(payload.word(first + i)) == seen[i]) ++i;
        if (i == seen.size()) return PayloadOrigin{space.newest_call - back, rank, first};
      }
    }
  }
  return std::nullopt;
}

std::string DescribeOrigin(std::span<const std::uint32_t> pack, std::size_t at,
                           const PayloadSpace& space) {
  if (const auto origin = FindOrigin(pack, space)) return "which is " + Name(*origin, at);
  if (IsHardWord(pack[at])) {
    return "a value that many payloads hold, in a pack that cannot be traced";
  }
  if (const auto origin = FindOrigin(pack.subspan(at, 1), space)) {
    return "which is " + Name(*origin, 0) + ", in a pack that was never sent so";
  }
  return "which no recent call sent";
}

}  // namespace mailbench
