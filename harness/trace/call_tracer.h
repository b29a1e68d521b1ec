// How an algorithm shows where the time of its calls goes.
#pragma once

#include <vector>

#include "harness/trace/clocks.h"
#include "kernels/machine/trace.h"

namespace mailbench {

class CallTracer {
 public:
  virtual ~CallTracer() = default;
  // As Instance::Enqueue, by a kernel that marks when it does what; the marks are those of `call`,
  // in the place of earlier ones. Not for timing: marks take time.
  virtual void Enqueue(int slot, int call) = 0;
  // By CTA, as many on every rank. REQUIRES: the call has ended.
  virtual std::vector<TraceTimes> Times(int call) = 0;
  virtual MarkClock& clock() = 0;
};

}  // namespace mailbench
