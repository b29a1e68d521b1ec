// What a call of the known-bad all-gather launches, from its size alone.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/lamport/launch.h"

namespace mailbench {

inline constexpr int kMnnvlThreads = 128;  // a CTA, as in the original

// Sources are polled one by one: a batch of 1. REQUIRES: packs >= 1, and no more CTAs than an int
// counts; otherwise std::invalid_argument.
AllGatherPlan PlanMnnvl(std::int64_t packs);

// Why the call cannot be made, with the arithmetic; "" when it can. As CoResidencyRefusal, and a
// rank with a GPU of its own needs places for its whole grid: the first CTA keeps its place until
// all have come.
std::string MnnvlRefusal(const AllGatherPlan& plan, const CoResidency& gpu);

}  // namespace mailbench
