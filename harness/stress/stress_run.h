// Stresses one algorithm: many calls of one instance whose sizes alternate, every one checked.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/measure/measure_point.h"
#include "harness/report/stress_record.h"

namespace mailbench {

// Hears now and then, and at the end, what has been found so far: the same on every rank.
using StressObserver = std::function<void(const StressRecord&)>;

// Collective: every rank calls it with the same arguments and gets the same record. Makes at least
// record.calls_wanted calls of sizes out of record.shapes, in rounds; a round takes the next
// pattern, draws sizes for a graph of up to record.calls_per_graph calls and records it. Then a few
// times: every input is filled anew, all ranks come together, and a call that the host launches,
// the graph and another such call follow each other without a wait. Each call has a payload of its
// own, and its whole output is compared with the payloads. At the end the mailbox is audited.
// `index`: of the algorithm in the run, for the heartbeat.
StressRecord RunStress(StressRecord record, std::uint32_t index, Instance& instance,
                       CallCounter& calls, const MeasureContext& context,
                       const StressObserver& observer);

}  // namespace mailbench
