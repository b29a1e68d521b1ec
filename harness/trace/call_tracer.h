// How an algorithm shows where the time of its calls goes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
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

struct TracerOrRefusal {
  std::unique_ptr<CallTracer> tracer;
  std::string refusal;  // why there is no tracer, in words that follow "not traced: "
};

// Why the times of so many calls, of `bytes` of a rank together, are not worth their memory; ""
// when they are.
std::string TimesRefusal(int calls, std::int64_t bytes);

}  // namespace mailbench
