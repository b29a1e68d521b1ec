#include "harness/ranks/rank_list.h"

#include <cstddef>

namespace mailbench {

std::string RankList(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const char* separator = "";
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    // Two neighbours are shorter as a pair than as a range.
    if (last - first < 2) {
      last = first;
    }
    text += separator + std::to_string(ranks[first]);
    if (last > first) {
      text += "-" + std::to_string(ranks[last]);
    }
    separator = ", ";
    first = last + 1;
  }
  return text;
}

}  // namespace mailbench
