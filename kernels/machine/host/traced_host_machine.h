// The host machine with a clock: it writes down when a protocol does what. Never timed.
#pragma once

#include <chrono>
#include <cstdint>

#include "kernels/machine/host/host_machine.h"
#include "kernels/machine/trace.h"

namespace mailbench {

// Nanoseconds of the steady clock: CLOCK_MONOTONIC, one clock for all processes of a host.
inline std::uint64_t ReadSteadyClock() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

class TracedHostMachine : public HostMachine {
 public:
  TracedHostMachine(HostThread& thread, const TraceView& trace)
      : HostMachine(thread), trace_(trace) {}

  void mark(TraceEvent event, int source) {
    if (event == TraceEvent::kLook) {
      looks_.Look(source);
    } else if (event != TraceEvent::kArrived) {
      Write(event, source, ReadSteadyClock());
    } else if (looks_.Add(source)) {
      Write(event, source, looks_.Time(ReadSteadyClock));
    }
  }

 private:
  void Write(TraceEvent event, int source, std::uint64_t time) const {
    const std::int64_t thread = std::int64_t{cta_index()} * cta_size() + thread_index();
    *trace_.At(event, source, thread) = time;
  }

  TraceView trace_;
  TraceLooks looks_;
};

static_assert(MulticastMachine<TracedHostMachine>);

}  // namespace mailbench
