// What a run will do: which algorithms, which points, in which order.
#pragma once

#include <string>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/collective/site.h"
#include "harness/command_line/run_config.h"
#include "harness/report/point_record.h"
#include "harness/report/run_facts.h"

namespace mailbench {

struct SweepPoint {
  PointKey key;
  Mode mode;
};

struct SweepPlan {
  std::vector<std::string> algorithms;  // those that run, in the collective's order
  std::vector<Skipped> skipped;
  // By shape, then mode, then algorithm: what is compared stands together.
  std::vector<SweepPoint> points;
};

// Without config.algorithms: the subject and every comparison that can run, never the known-bad.
// From what it is given and, on GPUs, from what kernels take of this one. Throws MachineError for
// an algorithm that was named and cannot run with any shape, and when none can.
SweepPlan PlanSweep(const Collective& collective, const RunConfig& config, const Site& site);

// Whether an algorithm that config asks for stores to all ranks at once where it can.
bool WantsMulticast(const Collective& collective, const RunConfig& config);

// --list: the algorithms and what they are. --dry-run: the points. Both end with a newline.
std::string ListAlgorithms(const Collective& collective, const RunConfig& config, const Site& site);
std::string ListPoints(const SweepPlan& plan, const RunConfig& config);

}  // namespace mailbench
