// What ranks tell each other of wrong calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/validate/wrong_word.h"

namespace mailbench {

class Ranks;

// Collective. How many numbers any rank has: a call counts once, on however many ranks it was
// wrong.
std::uint64_t CountOverRanks(const std::vector<std::uint64_t>& calls, const Ranks& ranks);

// Collective. The words of all ranks, by call and rank; the first `most` of them.
std::vector<WrongWord> FirstOverRanks(const std::vector<WrongWord>& own, std::size_t most,
                                      const Ranks& ranks);

}  // namespace mailbench
