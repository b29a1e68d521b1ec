// Makes what a search has found small enough to read: fewer replays, no producer, fewer calls,
// smaller sizes, fewer ranks, then fewer delays. The property that is violated stays the same.
#pragma once

#include <functional>

#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

// A schedule of a scenario, and what it violates.
struct Finding {
  Scenario scenario;
  ScheduleId schedule;
  Violation violation;
};

struct MinimiseBudget {
  double seconds_a_try = 0.3;  // of each strategy, in a scenario that may have nothing to find
  double seconds = 10;         // of all of that together
  double delay_seconds = 4;    // for the fewest delays, in the scenario that is left
  int delay_bound = 3;
  std::function<bool()> goes_on = {};  // asked now and then; false ends it with what it has
};

// Every scenario that is tried is searched anew, so the result depends on how far the searches get
// in their time; it is a finding like any other and is replayed exactly. When the exhaustive search
// finds nothing, the schedule is one of a random strategy.
Finding Minimise(const Model& model, const WorldRules& rules, const Finding& found,
                 const MinimiseBudget& budget);

}  // namespace mailbench
