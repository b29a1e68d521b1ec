#include "src/protocol_checker/interrupt.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "harness/error.h"
#include "harness/watchdog/signals.h"

namespace mailbench {

Interrupt::Interrupt() {
  BlockSignals();
  listener_ = std::jthread([this](const std::stop_token& stop) { Listen(stop); });
}

std::string Interrupt::Text() const { return std::string("received ") + SignalName(signal_); }

void Interrupt::Listen(const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kTick(20);  // no run lasts longer for it than this
  // Terminals and launchers send a signal twice: to the process and to its group.
  constexpr std::chrono::milliseconds kRepeated(500);
  Clock::time_point first;
  while (!stop.stop_requested()) {
    const int signal = WaitForSignal(kTick);
    if (signal == 0) continue;
    if (!heard()) {
      signal_ = signal;
      first = Clock::now();
    } else if (Clock::now() - first > kRepeated) {
      // Whatever the other threads are stuck in.
      std::fprintf(stderr, "mailbench: %s a second time: the report is lost\n", Text().c_str());
      _exit(static_cast<int>(ExitCode::kFailed));
    }
  }
}

}  // namespace mailbench
