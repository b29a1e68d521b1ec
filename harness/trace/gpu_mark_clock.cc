#include "harness/trace/gpu_mark_clock.h"

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <cstdio>

#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/cuda_handles.h"
#include "harness/watchdog/heartbeat.h"
#include "kernels/machine/gpu/device_clock.h"

namespace mailbench {
namespace {

constexpr std::uint32_t kQuestions = 200;
// Ranks that take turns on a GPU, without MPS, wait for milliseconds.
constexpr std::uint64_t kPatienceNs = 2'000'000'000;

std::string UuidOfCurrentDevice() {
  int device = 0;
  MAILBENCH_CUDA(cudaGetDevice(&device));
  cudaDeviceProp properties;
  MAILBENCH_CUDA(cudaGetDeviceProperties(&properties, device));
  std::string text = "%globaltimer of GPU-";
  for (const char byte : properties.uuid.bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(byte));
    text += digits.data();
  }
  return text;
}

// Host memory that the kernels map.
struct Mailbox {
  PinnedMemory<std::byte> memory = MakePinnedBytes(128);
  std::uint64_t* answer() const { return reinterpret_cast<std::uint64_t*>(memory.get()); }
  std::uint32_t* ask() const { return reinterpret_cast<std::uint32_t*>(memory.get() + 64); }
};

std::uint64_t Answer(const Mailbox& mailbox) {
  const std::int64_t since = MonotonicNow();
  std::atomic_ref<std::uint64_t> answer(*mailbox.answer());
  std::uint64_t time = 0;
  while ((time = answer.load(std::memory_order_acquire)) == 0) {
    if (MonotonicNow() - since > static_cast<std::int64_t>(kPatienceNs)) {
      throw SystemError("the GPU does not answer when asked for its clock");
    }
  }
  return time;
}

}  // namespace

GpuMarkClock::GpuMarkClock(GpuExecutor& executor)
    : executor_(executor), name_(UuidOfCurrentDevice()) {
  const Mailbox mailbox;
  *mailbox.answer() = 0;
  MAILBENCH_CUDA(LaunchClockSteps(mailbox.answer(), executor_.stream()));
  MAILBENCH_CUDA(cudaStreamSynchronize(executor_.stream()));
  step_ns_ = static_cast<std::int64_t>(*mailbox.answer());
}

ClockOffset GpuMarkClock::ToHost() {
  const Mailbox mailbox;
  std::atomic_ref<std::uint64_t> answer(*mailbox.answer());
  std::atomic_ref<std::uint32_t> ask(*mailbox.ask());
  answer = 0;
  ask = 0;
  MAILBENCH_CUDA(LaunchClockEcho({mailbox.ask(), mailbox.answer()}, kQuestions, kPatienceNs,
                                 executor_.stream()));
  std::uint32_t question = 0;
  const auto ask_gpu = [&] {
    answer = 0;
    ask = ++question;
    return static_cast<std::int64_t>(Answer(mailbox));
  };
  const ClockOffset offset = OffsetByAsking(ask_gpu, MonotonicNow, step_ns_, kQuestions);
  MAILBENCH_CUDA(cudaStreamSynchronize(executor_.stream()));
  return offset;
}

}  // namespace mailbench
