#include "harness/gpu/gpu_executor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/kernel_names.h"
#include "harness/launch/start_gate.h"
#include "kernels/machine/gpu/device_clock.h"
#include "kernels/start_gate/gpu_start_gate.h"

namespace mailbench {
namespace {

constexpr std::chrono::microseconds kPollInterval{200};
constexpr std::size_t kPeekBytes = std::size_t{1} << 20;  // a copy's piece, through pinned memory

class RecordedGraph : public Graph {
 public:
  RecordedGraph(const DriverTable& driver, CudaGraph graph, cudaStream_t stream)
      : driver_(driver),
        graph_(std::move(graph)),
        executable_(Instantiate(graph_.get())),
        stream_(stream) {
    MAILBENCH_CUDA(cudaGraphUpload(executable_.get(), stream_));
  }

  void Replay() override { MAILBENCH_CUDA(cudaGraphLaunch(executable_.get(), stream_)); }
  std::vector<KernelCount> kernels() const override { return KernelsOf(driver_, graph_.get()); }

 private:
  const DriverTable& driver_;
  CudaGraph graph_;
  CudaGraphExec executable_;
  cudaStream_t stream_;
};

class DeviceBuffer : public Buffer {
 public:
  explicit DeviceBuffer(DeviceMemory memory) : memory_(std::move(memory)) {}
  std::byte* data() const override { return memory_.get(); }

 private:
  DeviceMemory memory_;
};

// Whether everything on the stream has ended with success, within the limit.
bool SucceedsWithin(cudaStream_t stream, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  cudaError_t state = cudaStreamQuery(stream);
  while (state == cudaErrorNotReady && std::chrono::steady_clock::now() <= deadline) {
    std::this_thread::sleep_for(kPollInterval);
    state = cudaStreamQuery(stream);
  }
  return state == cudaSuccess;
}

DeviceMemory AllocateDeviceMemory(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // the error is handled here
    throw MachineError(std::to_string(bytes) + " bytes of GPU memory are not to be had");
  }
  if (error != cudaSuccess) ThrowCudaError(error, "cudaMalloc", __FILE__, __LINE__);
  return DeviceMemory(static_cast<std::byte*>(data));
}

int CurrentDevice() {
  int device = 0;
  MAILBENCH_CUDA(cudaGetDevice(&device));
  return device;
}

}  // namespace

GpuExecutor::GpuExecutor(const DriverTable& driver)
    : driver_(driver),
      device_(CurrentDevice()),
      stream_(MakeStream()),
      peek_stream_(MakeStream()),
      release_stream_(MakeUrgentStream()),
      start_(MakeEvent()),
      stop_(MakeEvent()),
      abort_word_(MakePinnedWord()),
      gate_generation_(MakePinnedWord()),
      gate_times_(MakePinnedBytes(sizeof(GateTimes))),
      peek_buffer_(MakePinnedBytes(kPeekBytes)) {}

void GpuExecutor::Synchronize() {
  MAILBENCH_CUDA(cudaStreamSynchronize(stream()));
  while (std::atomic_ref(*abort_word_).load(std::memory_order_relaxed) != 0) pause();
}

std::unique_ptr<Graph> GpuExecutor::Record(const std::function<void()>& enqueue) {
  cudaGraph_t graph = nullptr;
  MAILBENCH_CUDA(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal));
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(stream(), &graph);
    const CudaGraph unfinished(graph);
    throw;
  }
  MAILBENCH_CUDA(cudaStreamEndCapture(stream(), &graph));
  return std::make_unique<RecordedGraph>(driver_, CudaGraph(graph), stream());
}

double GpuExecutor::Time(int calls, const std::function<void()>& enqueue) {
  if (observer_) observer_(calls);
  MAILBENCH_CUDA(cudaEventRecord(start_.get(), stream()));
  enqueue();
  MAILBENCH_CUDA(cudaEventRecord(stop_.get(), stream()));
  Synchronize();
  float milliseconds = 0;
  MAILBENCH_CUDA(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
  return milliseconds * 1e-3;
}

void GpuExecutor::PrepareGate() {
  MAILBENCH_CUDA(LoadStartGate());
  auto* step_ns = reinterpret_cast<std::uint64_t*>(peek_buffer_.get());
  MAILBENCH_CUDA(LaunchClockSteps(step_ns, stream()));
  Synchronize();
  gate_clock_step_us_ = static_cast<double>(*step_ns) * 1e-3;
}

std::unique_ptr<Graph> GpuExecutor::RecordBehind(StartGate& gate,
                                                 const std::function<void()>& enqueue) {
  if (!gate_clock_step_us_) PrepareGate();
  auto* times = reinterpret_cast<GateTimes*>(gate_times_.get());
  return Record([&] {
    MAILBENCH_CUDA(
        LaunchAwaitRelease(gate.own(), gate_generation_.get(), times, abort_word(), stream()));
    enqueue();
    MAILBENCH_CUDA(LaunchNoteEnd(times, stream()));
  });
}

double GpuExecutor::TimeFromGate(StartGate& gate, int calls, Graph& behind) {
  if (observer_) observer_(calls);
  const std::uint32_t generation = gate.NextGeneration();
  std::atomic_ref(*gate_generation_).store(generation, std::memory_order_relaxed);
  behind.Replay();
  gate.Meet();  // on every rank all is enqueued: no launch by a host is part of what is timed
  if (gate.releases()) {
    MAILBENCH_CUDA(LaunchRelease(gate.view(), generation, release_stream_.get()));
  }
  Synchronize();
  const auto* times = reinterpret_cast<const GateTimes*>(gate_times_.get());
  return static_cast<double>(times->ended - times->released) * 1e-9;
}

void GpuExecutor::EvictL2() {
  if (evicting_ == nullptr) {
    int l2_bytes = 0;
    MAILBENCH_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device_));
    evicting_bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    evicting_ = AllocateDeviceMemory(evicting_bytes_);
  }
  FillWords(evicting_.get(), ++evictions_, evicting_bytes_ / sizeof(std::uint32_t));
}

std::optional<int> GpuExecutor::clock_mhz() {
  if (!clock_) {
    std::array<char, 32> bus{};
    MAILBENCH_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device_));
    clock_.emplace(bus.data());
  }
  return clock_->mhz();
}

std::unique_ptr<Buffer> GpuExecutor::Allocate(std::size_t bytes) {
  return std::make_unique<DeviceBuffer>(AllocateDeviceMemory(bytes));
}

void GpuExecutor::CopyIn(std::byte* to, std::span<const std::byte> from) {
  MAILBENCH_CUDA(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream()));
  Synchronize();
}

void GpuExecutor::CopyOut(std::span<std::byte> to, const std::byte* from) {
  MAILBENCH_CUDA(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream()));
  Synchronize();
}

void GpuExecutor::FillWords(std::byte* to, std::uint32_t word, std::size_t words) {
  MAILBENCH_DRIVER(driver_, MemsetD32Async, reinterpret_cast<CUdeviceptr>(to), word, words,
                   stream());
  Synchronize();
}

void GpuExecutor::EnqueueDelay(std::chrono::nanoseconds delay) {
  MAILBENCH_CUDA(LaunchDelay(static_cast<std::uint64_t>(delay.count()), stream()));
}

void GpuExecutor::EnqueueDrawnDelay(std::byte* state) {
  MAILBENCH_CUDA(LaunchDrawnDelay(reinterpret_cast<std::uint64_t*>(state), stream()));
}

bool GpuExecutor::Abandon(std::chrono::milliseconds limit) {
  std::atomic_ref(*abort_word_).store(1, std::memory_order_relaxed);
  return cudaSetDevice(device_) == cudaSuccess && SucceedsWithin(stream(), limit);
}

bool GpuExecutor::Peek(std::span<std::byte> to, const std::byte* from,
                       std::chrono::milliseconds limit) {
  if (cudaSetDevice(device_) != cudaSuccess) return false;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (std::size_t at = 0; at < to.size(); at += kPeekBytes) {
    const std::size_t piece = std::min(kPeekBytes, to.size() - at);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (cudaMemcpyAsync(peek_buffer_.get(), from + at, piece, cudaMemcpyDeviceToHost,
                        peek_stream_.get()) != cudaSuccess ||
        !SucceedsWithin(peek_stream_.get(), left)) {
      return false;
    }
    std::memcpy(to.data() + at, peek_buffer_.get(), piece);
  }
  return true;
}

}  // namespace mailbench
