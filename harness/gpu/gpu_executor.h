// Calls on a CUDA stream, timed by CUDA events; those behind the start gate by the GPU's own clock
// (%globaltimer), as all of it is one graph.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "harness/gpu/cuda_handles.h"
#include "harness/gpu/nvml.h"
#include "harness/launch/executor.h"

namespace mailbench {

struct DriverTable;

// REQUIRES: the device has been chosen (cudaSetDevice) before, by the thread that makes the object;
// every function but Abandon and Peek is called by that thread. Errors of CUDA are SystemErrors.
class GpuExecutor : public Executor {
 public:
  explicit GpuExecutor(const DriverTable& driver);

  // The stream of all calls. Does not wait for the legacy default stream.
  cudaStream_t stream() const { return stream_.get(); }
  // A word of host memory, mapped into the device, that turns non-zero when the run is given up.
  const std::uint32_t* abort_word() const { return abort_word_.get(); }

  std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) override;
  double Time(int calls, const std::function<void()>& enqueue) override;
  std::unique_ptr<Graph> RecordBehind(StartGate& gate,
                                      const std::function<void()>& enqueue) override;
  double TimeFromGate(StartGate& gate, int calls, Graph& behind) override;
  std::optional<double> gate_clock_step_us() const override { return gate_clock_step_us_; }
  // Writes to twice as much memory as L2 holds.
  void EvictL2() override;
  std::optional<int> clock_mhz() override;
  void OnCalls(std::function<void(int)> observer) override { observer_ = std::move(observer); }

  std::unique_ptr<Buffer> Allocate(std::size_t bytes) override;
  void CopyIn(std::byte* to, std::span<const std::byte> from) override;
  void CopyOut(std::span<std::byte> to, const std::byte* from) override;
  void FillWords(std::byte* to, std::uint32_t word, std::size_t words) override;
  void EnqueueDelay(std::chrono::nanoseconds delay) override;
  void EnqueueDrawnDelay(std::byte* state) override;

  bool Abandon(std::chrono::milliseconds limit) override;
  bool Peek(std::span<std::byte> to, const std::byte* from,
            std::chrono::milliseconds limit) override;

  GpuExecutor* gpu() override { return this; }

 private:
  // Loads the gate's kernels and watches the clock that they read.
  void PrepareGate();
  // Waits for the stream. Never returns once the run is given up: nothing that was computed counts.
  void Synchronize();

  const DriverTable& driver_;
  int device_;
  CudaStream stream_;
  CudaStream peek_stream_;
  CudaStream release_stream_;  // of the start gate: its kernels on stream_ wait meanwhile
  CudaEvent start_;
  CudaEvent stop_;
  PinnedMemory<std::uint32_t> abort_word_;
  PinnedMemory<std::uint32_t> gate_generation_;  // of the next release
  PinnedMemory<std::byte> gate_times_;           // of the last one
  // Made with the object: pinning waits for kernels, and Peek is for when they are stuck.
  PinnedMemory<std::byte> peek_buffer_;
  std::function<void(int)> observer_;
  std::optional<double> gate_clock_step_us_;  // known once the gate's kernels are loaded
  // Made when they are first asked for.
  std::optional<SmClock> clock_;
  DeviceMemory evicting_;
  std::size_t evicting_bytes_ = 0;
  std::uint32_t evictions_ = 0;
};

}  // namespace mailbench
