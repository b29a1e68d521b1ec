// The host machine with a clock: it writes down when a protocol does what. Never timed.
#pragma once

#include <chrono>
#include <cstdint>

#include "kernels/machine/host/host_machine.h"
#include "kernels/machine/trace.h"

namespace mailbench {

// Nanoseconds of the steady clock: CLOCK_MONOTONIC, one clock for all processes of a host.
inline std::uint64_t ReadSteadyClock() {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

class TracedHostMachine : public HostMachine {
 public:
  TracedHostMachine(HostThread& thread, const TraceView& trace)
      : HostMachine(thread), trace_(trace) {}

  void mark(TraceEvent event) const { Write(trace_.At(event, thread()), ReadSteadyClock()); }
  void mark_look(int first, std::uint32_t present) {
    MarkLook(looks_, first, present, ReadSteadyClock, [&](int source, std::uint64_t time) {
      Write(trace_.ArrivalOf(source, thread()), time);
    });
  }

 private:
  std::int64_t thread() const { return std::int64_t{cta_index()} * cta_size() + thread_index(); }
  static void Write(std::uint64_t* to, std::uint64_t time) { *to = time; }

  TraceView trace_;
  TraceLooks looks_;
};

static_assert(MulticastMachine<TracedHostMachine>);

}  // namespace mailbench
