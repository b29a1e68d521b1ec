// Stresses one algorithm: many calls of one instance whose sizes alternate, every one verified
// where it runs.
#pragma once

#include <cstdint>
#include <functional>

#include "harness/collective/collective.h"
#include "harness/measure/measure_point.h"
#include "harness/report/stress_record.h"

namespace mailbench {

// Hears now and then, when something was wrong, and at the end, what has been found so far: the
// same on every rank.
using StressObserver = std::function<void(const StressRecord&)>;

// Collective: every rank calls it with the same arguments and gets the same record. Makes at least
// record.calls_wanted calls of sizes out of record.shapes, in rounds. A round draws the sizes of a
// few graphs of up to record.calls_per_graph calls, each of another pattern, and of a few calls
// that the host launches; then it replays and launches them in a random order, while one rank is
// late on its device, each time by another while, and one by its host (harness/stress/skew.h). No
// rank waits for another but in calls. Each call of each replay has a payload of its own, and its
// whole output is compared with the payloads (harness/stress/call_verifier.h). All that is drawn
// follows from config.seed. At the end the mailbox is audited. The graphs of the first five rounds
// are replayed a few times before, without fill and verification, to compare times; those calls
// count nowhere else. `index`: of the algorithm in the run, for the heartbeat. Throws a UsageError
// when the instance cannot verify calls where they run, and what it throws.
StressRecord RunStress(StressRecord record, std::uint32_t index, Instance& instance,
                       CallCounter& calls, const MeasureContext& context,
                       const StressObserver& observer);

}  // namespace mailbench
