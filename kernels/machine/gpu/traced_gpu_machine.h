// The gpu machine with a clock: it writes down when a protocol does what. Never timed.
#pragma once

#include <cstdint>

#include "kernels/machine/gpu/global_timer.h"
#include "kernels/machine/gpu/gpu_machine.h"
#include "kernels/machine/trace.h"

namespace mailbench {

class TracedGpuMachine : public GpuMachine {
 public:
  MAILBENCH_DEVICE TracedGpuMachine(const std::uint32_t* abort_word, const TraceView& trace)
      : GpuMachine(abort_word), trace_(trace) {}

  MAILBENCH_DEVICE void mark(TraceEvent event, int source) {
    if (event == TraceEvent::kLook) {
      looks_.Look(source);
    } else if (event != TraceEvent::kArrived) {
      Write(event, source, ReadGlobalTimer());
    } else if (looks_.Add(source)) {
      Write(event, source, looks_.Time(ReadGlobalTimer));
    }
  }

 private:
  // Read by the host, after the launch.
  MAILBENCH_DEVICE void Write(TraceEvent event, int source, std::uint64_t time) const {
    const std::int64_t thread =
        static_cast<std::int64_t>(cta_index()) * cta_size() + thread_index();
    asm volatile(
        "st.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(trace_.At(event, source, thread))),
        "l"(time)
        : "memory");
  }

  TraceView trace_;
  TraceLooks looks_;
};

static_assert(MulticastMachine<TracedGpuMachine>);

}  // namespace mailbench
