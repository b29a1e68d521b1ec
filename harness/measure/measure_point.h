// Measures and checks one point: an algorithm, a shape, a mode.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/launch/executor.h"
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
};

// Numbers the calls of a run, so that no two calls carry the same payload: the same on every rank.
class CallCounter {
 public:
  std::uint64_t Next() { return next_++; }

 private:
  std::uint64_t next_ = 0;
};

// Collective: every rank calls it with the same arguments and gets the same record, but for
// samples of its own. The instance is bound to key.shape by this function. In order:
//   check    every call of a few rounds, each with a payload of its own, compared whole with the
//            reference; then the audit;
//   warm-up  the first replay of a graph, which is slower than the others, and config.warmup
//            samples, thrown away;
//   measure  the samples; all ranks enter each together, and each counts the slowest rank;
//   check    what the last of the timed calls left in the outputs, and the audit again.
PointRecord MeasurePoint(const PointKey& key, Mode mode, std::uint32_t point_index,
                         Instance& instance, CallCounter& calls, const MeasureContext& context);

}  // namespace mailbench
