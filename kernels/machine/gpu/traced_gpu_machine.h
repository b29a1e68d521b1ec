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

  MAILBENCH_DEVICE void mark(TraceEvent event) const {
    Write(trace_.At(event, thread()), ReadGlobalTimer());
  }
  MAILBENCH_DEVICE void mark_look(int first, std::uint32_t present) {
    MarkLook(looks_, first, present, ReadGlobalTimer, [&](int source, std::uint64_t time) {
      Write(trace_.ArrivalOf(source, thread()), time);
    });
  }

 private:
  MAILBENCH_DEVICE std::int64_t thread() const {
    return static_cast<std::int64_t>(cta_index()) * cta_size() + thread_index();
  }
  // Read by the host, after the launch.
  MAILBENCH_DEVICE static void Write(std::uint64_t* to, std::uint64_t time) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(time)
                 : "memory");
  }

  TraceView trace_;
  TraceLooks looks_;
};

static_assert(MulticastMachine<TracedGpuMachine>);

}  // namespace mailbench
