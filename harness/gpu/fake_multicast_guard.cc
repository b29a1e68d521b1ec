#include "harness/gpu/fake_multicast_guard.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace mailbench {
namespace {

// Fixed and atomic, since a signal handler reads them.
struct GuardedRange {
  std::atomic<CUdeviceptr> start = 0;  // 0: free
  std::atomic<std::size_t> bytes = 0;
};
std::array<GuardedRange, 256> guarded;
struct sigaction before {};

bool Guarded(CUdeviceptr address) {
  for (const GuardedRange& range : guarded) {
    const CUdeviceptr start = range.start;
    if (start != 0 && address >= start && address - start < range.bytes) return true;
  }
  return false;
}

void OnFault(int number, siginfo_t* info, void* /*context*/) {
  if (Guarded(reinterpret_cast<CUdeviceptr>(info->si_addr))) {
    static constexpr char kText[] = "fake driver: plain access through a multicast address\n";
    static_cast<void>(!write(STDERR_FILENO, kText, sizeof kText - 1));
    signal(number, SIG_DFL);
  } else {
    sigaction(number, &before, nullptr);
  }
  // The access is tried again, and faults for good.
}

void Install() {
  struct sigaction action {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
}

}  // namespace

bool GuardMulticastRange(CUdeviceptr start, std::size_t bytes) {
  static std::once_flag installed;
  static std::mutex mutex;
  std::call_once(installed, Install);
  const std::scoped_lock lock(mutex);
  for (GuardedRange& range : guarded) {
    if (range.start != 0) continue;
    range.bytes = bytes;
    range.start = start;
    return true;
  }
  return false;
}

void UnguardMulticastRange(CUdeviceptr start) {
  for (GuardedRange& range : guarded) {
    CUdeviceptr expected = start;
    range.start.compare_exchange_strong(expected, 0);
  }
}

}  // namespace mailbench
