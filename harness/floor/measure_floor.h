// The floor of the fabric that a run takes place on: what no collective of one kernel a call gets
// below.
#pragma once

#include "harness/floor/floor.h"
#include "harness/floor/floor_probe.h"
#include "harness/launch/executor.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Collective; takes milliseconds. No hop where there is one rank.
Floor MeasureFloor(FloorProbe& probe, Executor& executor, const Ranks& ranks);

// How many rounds of the floor's kernels one launch makes, so that starting it counts for nothing.
int FloorRounds(Executor& executor);

}  // namespace mailbench
