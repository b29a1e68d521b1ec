#include "kernels/machine/gpu/dependent_launch.h"
#include "kernels/machine/gpu/global_timer.h"
#include "kernels/machine/gpu/gpu_machine.h"
#include "kernels/start_gate/gpu_start_gate.h"
#include "kernels/start_gate/protocol.h"

namespace mailbench {
namespace {

constexpr int kReleasingThreads = 32;

__global__ void __launch_bounds__(1)
    AwaitReleaseKernel(const Latch* own, const std::uint32_t* generation, GateTimes* times,
                       const std::uint32_t* abort_word) {
  GpuMachine m(abort_word);
  AwaitRelease(m, own, m.load_volatile_u32(generation));
  times->released = ReadGlobalTimer();
}

__global__ void __launch_bounds__(1) NoteEndKernel(GateTimes* times) {
  GpuMachine m(nullptr);
  m.grid_dependency_wait();
  times->ended = ReadGlobalTimer();
}

__global__ void __launch_bounds__(kReleasingThreads)
    ReleaseKernel(const __grid_constant__ StartGateView gate, std::uint32_t generation) {
  GpuMachine m(nullptr);
  Release(m, gate, generation);
}

cudaLaunchConfig_t OneCta(int threads, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  return config;
}

}  // namespace

cudaError_t LoadStartGate() {
  cudaFuncAttributes attributes{};
  cudaError_t error = cudaFuncGetAttributes(&attributes, &AwaitReleaseKernel);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, &ReleaseKernel);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, &NoteEndKernel);
  return error;
}

cudaError_t LaunchAwaitRelease(const Latch* own, const std::uint32_t* generation, GateTimes* times,
                               const std::uint32_t* abort_word, cudaStream_t stream) {
  const cudaLaunchConfig_t config = OneCta(1, stream);
  return cudaLaunchKernelEx(&config, &AwaitReleaseKernel, own, generation, times, abort_word);
}

cudaError_t LaunchNoteEnd(GateTimes* times, cudaStream_t stream) {
  return LaunchDependent(&NoteEndKernel, 1, 1, stream, times);
}

cudaError_t LaunchRelease(const StartGateView& gate, std::uint32_t generation,
                          cudaStream_t stream) {
  const cudaLaunchConfig_t config = OneCta(kReleasingThreads, stream);
  return cudaLaunchKernelEx(&config, &ReleaseKernel, gate, generation);
}

}  // namespace mailbench
