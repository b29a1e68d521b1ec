// --dry-run: what would run, in what memory, and about how long.
#pragma once

#include <set>
#include <string>

#include "harness/collective/site.h"
#include "harness/command_line/run_config.h"
#include "harness/run/estimate.h"
#include "harness/run/points.h"

namespace mailbench {

// What the plan skips, and why; its points, as a table. Those of an earlier run, whose names are in
// `finished`, take no time. `estimate`: EstimatePoints of the same plan. Ends with a newline.
std::string ListPoints(const SweepPlan& plan, const PlanEstimate& estimate, const RunConfig& config,
                       const std::set<std::string>& finished);

// The same of a stress run; `estimate`: EstimateStresses.
std::string ListStresses(const SweepPlan& plan, const PlanEstimate& estimate,
                         const RunConfig& config);

}  // namespace mailbench
