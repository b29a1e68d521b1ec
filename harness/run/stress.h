// Stresses the algorithms of a plan: --stress.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/collective/collective.h"
#include "harness/measure/measure_point.h"
#include "harness/memory/transport.h"
#include "harness/report/journal.h"
#include "harness/run/points.h"
#include "harness/run/stress_findings.h"

namespace mailbench {

// Collective. Sets up every algorithm of the plan and makes config.stress calls of each, of the
// sizes that the plan has points of. Appends to `journal` all algorithms, and what has been found
// of each, now and then and at the end, when its row is printed (both on rank 0 alone); `findings`
// hears of it next. Returns the wrong words of all. Throws what set-up, calls and writing throw.
std::uint64_t RunStresses(Collective& collective, const SweepPlan& plan, Transport& transport,
                          const MeasureContext& context, std::optional<JournalWriter>& journal,
                          StressFindings& findings);

}  // namespace mailbench
