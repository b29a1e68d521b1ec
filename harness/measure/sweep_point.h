// One point of a sweep: what is measured, and how.
#pragma once

#include "harness/command_line/run_config.h"
#include "harness/measure/l2.h"
#include "harness/report/point_record.h"

namespace mailbench {

struct SweepPoint {
  PointKey key;
  Mode mode = Mode::kGraph;
  L2Use l2 = {};
};

// Calls of one sample.
inline int CallsPerSample(Mode mode, const RunConfig& config) {
  return mode == Mode::kGraph ? config.calls_per_graph : 1;
}
// Samples of one point.
inline int SamplesPerPoint(Mode mode, const RunConfig& config) {
  return mode == Mode::kGraph ? config.replays : config.iters;
}

}  // namespace mailbench
