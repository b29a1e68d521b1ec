// Runs the points of a plan.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "harness/collective/collective.h"
#include "harness/measure/measure_point.h"
#include "harness/memory/transport.h"
#include "harness/report/journal.h"
#include "harness/run/points.h"

namespace mailbench {

struct SweepResult {
  std::size_t points = 0;   // measured
  std::size_t resumed = 0;  // left out: an earlier run has them
  std::uint64_t wrong_words = 0;
};

// Collective. Sets up every algorithm of the plan, measures the points whose names are not in
// `finished`, prints their rows and appends them to `journal` (both on rank 0 alone), and frees the
// algorithms. Throws what set-up, measuring and writing throw.
SweepResult RunSweep(Collective& collective, const SweepPlan& plan, Transport& transport,
                     const MeasureContext& context, const std::set<std::string>& finished,
                     std::optional<JournalWriter>& journal);

}  // namespace mailbench
