#include "kernels/machine/drawn_delay.h"
#include "kernels/machine/gpu/device_clock.h"
#include "kernels/machine/gpu/global_timer.h"
#include "kernels/machine/gpu/gpu_machine.h"

namespace mailbench {
namespace {

// One access of 8 bytes: the host never sees half of it.
__device__ void StoreForHost(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "l"(value)
               : "memory");
}

__global__ void EchoClock(ClockEcho echo, std::uint32_t questions, std::uint64_t patience_ns) {
  const GpuMachine m(nullptr);
  for (std::uint32_t question = 1; question <= questions; ++question) {
    const std::uint64_t since = ReadGlobalTimer();
    while (m.load_volatile_u32(echo.ask) != question) {
      if (ReadGlobalTimer() - since > patience_ns) return;
    }
    StoreForHost(echo.answer, ReadGlobalTimer());
  }
}

__global__ void WatchClock(std::uint64_t* smallest) {
  constexpr int kSteps = 100;
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t last = ReadGlobalTimer();
  for (int steps = 0; steps < kSteps;) {
    const std::uint64_t now = ReadGlobalTimer();
    if (now == last) continue;
    // The first one is a part of a step.
    if (steps > 0 && now - last < least) least = now - last;
    last = now;
    ++steps;
  }
  StoreForHost(smallest, least);
}

__device__ void PassTime(std::uint64_t ns) {
  const std::uint64_t since = ReadGlobalTimer();
  while (ReadGlobalTimer() - since < ns) {
  }
}

__global__ void Delay(std::uint64_t ns) { PassTime(ns); }

__global__ void DrawnDelay(std::uint64_t* state) { PassTime(DrawDelayNs(state)); }

template <class... Parameters, class... Arguments>
cudaError_t LaunchOneThread(void (*kernel)(Parameters...), cudaStream_t stream,
                            const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

}  // namespace

cudaError_t LaunchClockEcho(const ClockEcho& echo, std::uint32_t questions,
                            std::uint64_t patience_ns, cudaStream_t stream) {
  return LaunchOneThread(&EchoClock, stream, echo, questions, patience_ns);
}

cudaError_t LaunchClockSteps(std::uint64_t* smallest, cudaStream_t stream) {
  return LaunchOneThread(&WatchClock, stream, smallest);
}

cudaError_t LaunchDelay(std::uint64_t ns, cudaStream_t stream) {
  return LaunchOneThread(&Delay, stream, ns);
}

cudaError_t LaunchDrawnDelay(std::uint64_t* state, cudaStream_t stream) {
  return LaunchOneThread(&DrawnDelay, stream, state);
}

}  // namespace mailbench
