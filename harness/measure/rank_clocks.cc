#include "harness/measure/rank_clocks.h"

namespace mailbench {

RankClocks GatherClocks(Executor& executor, const Ranks& ranks) {
  RankClocks clocks;
  for (const double mhz : ranks.Gather(executor.clock_mhz().value_or(0))) {
    clocks.push_back(mhz > 0 ? std::optional(static_cast<int>(mhz)) : std::nullopt);
  }
  return clocks;
}

}  // namespace mailbench
