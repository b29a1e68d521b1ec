// The clocks of all ranks' GPUs.
#pragma once

#include <optional>
#include <vector>

#include "harness/launch/executor.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Of the multiprocessors, MHz, by rank; nothing where it cannot be told.
using RankClocks = std::vector<std::optional<int>>;

// Collective: now, on every rank.
RankClocks GatherClocks(Executor& executor, const Ranks& ranks);

}  // namespace mailbench
