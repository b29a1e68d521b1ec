// What a run will do: which algorithms, which points, in which order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/collective/site.h"
#include "harness/command_line/run_config.h"
#include "harness/measure/sweep_point.h"
#include "harness/report/run_facts.h"

namespace mailbench {

struct SweepPlan {
  std::vector<std::string> algorithms;  // those that run, in the collective's order
  std::vector<Skipped> skipped;
  // By shape, then mode, then L2, then algorithm: what is compared stands together.
  std::vector<SweepPoint> points;
  std::size_t points_per_shape = 0;  // of one algorithm
};

// Without config.algorithms: the subject and every comparison that can run, never the known-bad.
// Where caches are not controlled, cold is skipped. From what it is given and, on GPUs, from what
// kernels take of this one. Throws MachineError for an algorithm that was named and cannot run with
// any shape, when none can, and when cold is all that was asked for where it is skipped.
SweepPlan PlanSweep(const Collective& collective, const RunConfig& config, const Site& site);

// Whether an algorithm that config asks for stores to all ranks at once where it can.
bool WantsMulticast(const Collective& collective, const RunConfig& config);

// --list: the algorithms and what they are. Ends with a newline.
std::string ListAlgorithms(const Collective& collective, const RunConfig& config, const Site& site);

}  // namespace mailbench
