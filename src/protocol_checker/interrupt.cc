#include "src/protocol_checker/interrupt.h"

#include <unistd.h>

#include <chrono>

#include "harness/error.h"
#include "harness/watchdog/signals.h"

namespace mailbench {

Interrupt::Interrupt() {
  BlockSignals();
  listener_ = std::jthread([this](const std::stop_token& stop) { Listen(stop); });
}

std::string Interrupt::Text() const { return std::string("received ") + SignalName(signal_); }

void Interrupt::Listen(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kTick(20);  // no run lasts longer for it than this
  while (!stop.stop_requested()) {
    const int signal = WaitForSignal(kTick);
    if (signal == 0) continue;
    // Whatever the other threads are stuck in.
    if (heard()) _exit(static_cast<int>(ExitCode::kFailed));
    signal_ = signal;
  }
}

}  // namespace mailbench
