// The floor of the fabric that a run takes place on: what no collective of one kernel a call gets
// below.
#pragma once

#include "harness/floor/floor.h"
#include "harness/floor/floor_probe.h"
#include "harness/launch/executor.h"
#include "harness/launch/start_gate.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Which calls by themselves are measured, too.
struct FloorCalls {
  bool isolated = false;
  bool eager = false;
};

// Collective; takes milliseconds, and where ranks are many more than cores up to a second a part.
// Each part is warmed up until steady, within bounds, and then sampled often enough for an interval
// of its median. No hop where there is one rank.
Floor MeasureFloor(FloorProbe& probe, Executor& executor, StartGate& gate, const Ranks& ranks,
                   const FloorCalls& calls = {});

// How many rounds of the floor's kernels one launch makes, so that starting it counts for nothing.
int FloorRounds(Executor& executor);

}  // namespace mailbench
