// The traced calls of one point, of all ranks, and what they come to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/trace/clocks.h"
#include "harness/trace/trace_summary.h"
#include "kernels/machine/trace.h"

namespace mailbench {

struct CallTrace {
  TraceTimes whole;              // all CTAs together
  std::vector<TraceTimes> ctas;  // the first few, as many in every call
};

struct RankTrace {
  std::string clock;
  ClockOffset offset;  // to rank 0's clock
  std::vector<CallTrace> calls;
};

struct PointTrace {
  int ctas = 0;              // of a call
  std::int64_t step_ns = 0;  // of the clocks, the largest of all ranks
  std::vector<RankTrace> ranks;
};

// A trace has to stay small enough for a viewer: no point has more events in the file, of 20 calls
// of up to 83 ranks.
inline constexpr int kMostEventsOfAPoint = 20'000;

// What of a point's calls goes into the file.
struct Shown {
  int ctas = 0;  // of a call, the first ones: 1 to 16
  // The last pack of each source; else of the last source alone: with many ranks, of which each
  // would have as many.
  bool sources = true;
};
// REQUIRES: all are above 0.
Shown ShownOf(int ctas, int ranks, int calls);

// REQUIRES: a rank, and as many calls on each rank, at least one.
TraceSummary Summarize(const PointTrace& trace);

}  // namespace mailbench
