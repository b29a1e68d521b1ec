// Stresses the algorithms of a plan: --stress.
#pragma once

#include <cstdint>
#include <optional>

#include "harness/collective/collective.h"
#include "harness/measure/measure_point.h"
#include "harness/memory/transport.h"
#include "harness/report/journal.h"
#include "harness/run/points.h"

namespace mailbench {

// Collective. Sets up every algorithm of the plan and makes config.stress calls of each, of the
// sizes that the plan has points of; prints its row and appends to `journal` what has been found,
// now and then and at the end (both on rank 0 alone). Returns the wrong words of all. Throws what
// set-up, calls and writing throw.
std::uint64_t RunStresses(Collective& collective, const SweepPlan& plan, Transport& transport,
                          const MeasureContext& context, std::optional<JournalWriter>& journal);

}  // namespace mailbench
