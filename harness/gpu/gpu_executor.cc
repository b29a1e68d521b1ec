#include "harness/gpu/gpu_executor.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/kernel_names.h"

namespace mailbench {
namespace {

constexpr std::chrono::microseconds kPollInterval{200};
constexpr std::size_t kPeekBytes = std::size_t{1} << 20;  // a copy's piece, through pinned memory

class RecordedGraph : public Graph {
 public:
  RecordedGraph(const DriverTable& driver, cudaGraph_t graph, cudaStream_t stream)
      : driver_(driver), graph_(graph), stream_(stream) {
    MAILBENCH_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
    MAILBENCH_CUDA(cudaGraphUpload(executable_, stream_));
  }
  ~RecordedGraph() override {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;

  void Replay() override { MAILBENCH_CUDA(cudaGraphLaunch(executable_, stream_)); }
  std::vector<KernelCount> kernels() const override { return KernelsOf(driver_, graph_); }

 private:
  const DriverTable& driver_;
  cudaGraph_t graph_;
  cudaGraphExec_t executable_ = nullptr;
  cudaStream_t stream_;
};

class DeviceBuffer : public Buffer {
 public:
  explicit DeviceBuffer(void* data) : data_(static_cast<std::byte*>(data)) {}
  ~DeviceBuffer() override { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  std::byte* data() const override { return data_; }

 private:
  std::byte* data_;
};

// Whether everything on the stream has ended, within the limit. An error counts as an end.
bool EndsWithin(cudaStream_t stream, std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

}  // namespace

GpuExecutor::GpuExecutor(const DriverTable& driver) : driver_(driver) {
  MAILBENCH_CUDA(cudaGetDevice(&device_));
  MAILBENCH_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  MAILBENCH_CUDA(cudaStreamCreateWithFlags(&peek_stream_, cudaStreamNonBlocking));
  MAILBENCH_CUDA(cudaEventCreate(&start_));
  MAILBENCH_CUDA(cudaEventCreate(&stop_));
  MAILBENCH_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&abort_word_), sizeof(*abort_word_),
                               cudaHostAllocMapped | cudaHostAllocPortable));
  *abort_word_ = 0;
  // Taken now: pinning memory waits for kernels, and Peek is for when they are stuck.
  MAILBENCH_CUDA(cudaMallocHost(reinterpret_cast<void**>(&peek_buffer_), kPeekBytes));
}

GpuExecutor::~GpuExecutor() {
  cudaFreeHost(peek_buffer_);
  cudaFreeHost(abort_word_);
  cudaEventDestroy(stop_);
  cudaEventDestroy(start_);
  cudaStreamDestroy(peek_stream_);
  cudaStreamDestroy(stream_);
}

void GpuExecutor::Synchronize() {
  MAILBENCH_CUDA(cudaStreamSynchronize(stream_));
  while (std::atomic_ref(*abort_word_).load(std::memory_order_relaxed) != 0) pause();
}

std::unique_ptr<Graph> GpuExecutor::Record(const std::function<void()>& enqueue) {
  cudaGraph_t graph = nullptr;
  MAILBENCH_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  MAILBENCH_CUDA(cudaStreamEndCapture(stream_, &graph));
  return std::make_unique<RecordedGraph>(driver_, graph, stream_);
}

double GpuExecutor::Time(int calls, const std::function<void()>& enqueue) {
  if (observer_) observer_(calls);
  MAILBENCH_CUDA(cudaEventRecord(start_, stream_));
  enqueue();
  MAILBENCH_CUDA(cudaEventRecord(stop_, stream_));
  Synchronize();
  float milliseconds = 0;
  MAILBENCH_CUDA(cudaEventElapsedTime(&milliseconds, start_, stop_));
  return milliseconds * 1e-3;
}

std::unique_ptr<Buffer> GpuExecutor::Allocate(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t error = cudaMalloc(&data, bytes);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // the error is handled here
    throw MachineError(std::to_string(bytes) + " bytes of GPU memory are not to be had");
  }
  MAILBENCH_CUDA(error);
  return std::make_unique<DeviceBuffer>(data);
}

void GpuExecutor::CopyIn(std::byte* to, std::span<const std::byte> from) {
  MAILBENCH_CUDA(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_));
  Synchronize();
}

void GpuExecutor::CopyOut(std::span<std::byte> to, const std::byte* from) {
  MAILBENCH_CUDA(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream_));
  Synchronize();
}

void GpuExecutor::FillWords(std::byte* to, std::uint32_t word, std::size_t words) {
  MAILBENCH_DRIVER(driver_, MemsetD32Async, reinterpret_cast<CUdeviceptr>(to), word, words,
                   stream_);
  Synchronize();
}

bool GpuExecutor::Abandon(std::chrono::milliseconds limit) {
  std::atomic_ref(*abort_word_).store(1, std::memory_order_relaxed);
  return cudaSetDevice(device_) == cudaSuccess && EndsWithin(stream_, limit);
}

bool GpuExecutor::Peek(std::span<std::byte> to, const std::byte* from,
                       std::chrono::milliseconds limit) {
  if (cudaSetDevice(device_) != cudaSuccess) return false;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (std::size_t at = 0; at < to.size(); at += kPeekBytes) {
    const std::size_t piece = std::min(kPeekBytes, to.size() - at);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (cudaMemcpyAsync(peek_buffer_, from + at, piece, cudaMemcpyDeviceToHost, peek_stream_) !=
            cudaSuccess ||
        !EndsWithin(peek_stream_, left)) {
      return false;
    }
    std::memcpy(to.data() + at, peek_buffer_, piece);
  }
  return true;
}

}  // namespace mailbench
