// Measures and checks one point: an algorithm, a shape, a mode.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/launch/executor.h"
#include "harness/launch/start_gate.h"
#include "harness/measure/sweep_point.h"
#include "harness/ranks/ranks.h"
#include "harness/report/point_record.h"
#include "harness/validate/reference.h"
#include "harness/watchdog/current_instance.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {

struct MeasureContext {
  const RunConfig& config;
  const Ranks& ranks;
  Executor& executor;
  Reference& reference;
  Heartbeat& heartbeat;
  CurrentInstance& current;
  StartGate* gate = nullptr;  // where a point is of mode isolated
};

// Numbers the calls of a run, so that no two calls carry the same payload: the same on every rank.
class CallCounter {
 public:
  std::uint64_t Next() { return Take(1); }
  // Of so many consecutive ones the first.
  std::uint64_t Take(std::uint64_t calls) { return std::exchange(next_, next_ + calls); }

 private:
  std::uint64_t next_ = 0;
};

// Collective: every rank calls it with the same arguments and gets the same record, but for
// samples of its own. The instance is bound to the point's shape by this function. In order:
//   check    every call of a few rounds, each with a payload and, within kOutputBudgetBytes,
//   buffers
//            of its own, compared whole with the reference; then the audit;
//   warm-up  on point.l2.slots buffers: the first replay of a graph, which is slower than the
//            others, or in mode isolated a call without the gate; then WarmUpUntilSteady with
//            config.warmup. All of it is thrown away;
//   measure  the samples; all ranks enter each together, and each counts the slowest rank. In mode
//            isolated the gate releases them, recorded behind it. What point.l2 has evicted is
//            evicted before;
//   check    what the last of the timed calls left in the outputs, and the audit again.
// Throws what the instance and the executor throw, a MachineError on every rank alike when memory
// for evictions is short on any.
PointRecord MeasurePoint(const SweepPoint& point, std::uint32_t point_index, Instance& instance,
                         CallCounter& calls, const MeasureContext& context);

}  // namespace mailbench
