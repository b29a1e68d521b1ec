// The start gate's memory: in symmetric memory, one latch a rank.
#pragma once

#include <cstdint>

#include "kernels/machine/max_ranks.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// What one rank polls, on a line of its own: nothing else that is written keeps it busy. Zeroed
// before the first generation, which is 1.
struct alignas(128) Latch {
  Pack released;  // the newest generation that was released, in each of its words
};
static_assert(sizeof(Latch) == 128);

// The gate as one rank sees it. Passed to kernels by value.
struct StartGateView {
  int ranks = 0;                   // 1 to kMaxRanks
  int rank = 0;                    // the one that this view belongs to
  Latch* latches[kMaxRanks] = {};  // every rank's as mapped here, the own one included
};

}  // namespace mailbench
