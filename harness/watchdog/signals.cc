#include "harness/watchdog/signals.h"

#include <signal.h>

#include <ctime>

namespace mailbench {
namespace {

// What BlockSignals blocked. Written before any thread exists that reads it.
sigset_t g_blocked;  // all zero: the empty set, on every libc of Linux

}  // namespace

void BlockSignals() {
  sigemptyset(&g_blocked);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction current {};
    sigaction(signal, nullptr, &current);
    // A blocked signal is queued even when it is ignored: this one would end the run after all.
    if (current.sa_handler != SIG_IGN) {
      sigaddset(&g_blocked, signal);
    }
  }
  pthread_sigmask(SIG_BLOCK, &g_blocked, nullptr);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);
}

int WaitForSignal(std::chrono::milliseconds timeout) {
  timespec wait{};
  wait.tv_sec = timeout.count() / 1000;
  wait.tv_nsec = timeout.count() % 1000 * 1'000'000;
  const int signal = sigtimedwait(&g_blocked, nullptr, &wait);
  return signal > 0 ? signal : 0;
}

const char* SignalName(int signal) {
  switch (signal) {
    case SIGTERM:
      return "SIGTERM";
    case SIGINT:
      return "SIGINT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

}  // namespace mailbench
