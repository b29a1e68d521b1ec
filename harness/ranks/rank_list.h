// Ranks in words, for messages and tables.
#pragma once

#include <span>
#include <string>

namespace mailbench {

// "rank 2", "ranks 0, 1, 3", "ranks 0-5, 7". REQUIRES: `ranks` ascending, not empty.
std::string RankList(std::span<const int> ranks);

}  // namespace mailbench
