// Where calls run and are timed: a stream of the host machine, or a CUDA stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mailbench {

class GpuExecutor;
class HostStream;
class StartGate;

// A kernel of a graph, and how many of its nodes run it.
struct KernelCount {
  std::string name;  // demangled, without its parameters
  int count = 0;
};

// Recorded calls with their arguments frozen.
class Graph {
 public:
  virtual ~Graph() = default;
  // Enqueues every recorded call, in the order of the recording.
  virtual void Replay() = 0;
  // The kernels that it launches, in the order of their first use; empty on the host machine.
  virtual std::vector<KernelCount> kernels() const { return {}; }
};

// Memory where calls run. Freed with the object, which communicates nothing.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() const = 0;  // aligned to 256 bytes
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Records what `enqueue` puts on the stream instead of running it.
  virtual std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) = 0;
  // Runs the `calls` calls that `enqueue` puts on the stream to their end; returns the seconds that
  // this rank took.
  virtual double Time(int calls, const std::function<void()>& enqueue) = 0;
  // As Record; a replay waits at the gate before the first call.
  virtual std::unique_ptr<Graph> RecordBehind(StartGate& gate,
                                              const std::function<void()>& enqueue) = 0;
  // Runs what RecordBehind has recorded, `calls` calls, once all ranks have come to the gate;
  // returns the seconds from this rank's release to the end of its calls. Collective. REQUIRES: all
  // ranks have returned from their last call of it, and what was recorded has run before without
  // the gate, for a first run may wait for the device.
  virtual double TimeFromGate(StartGate& gate, int calls, Graph& behind) = 0;
  // The smallest step of the clock that TimeFromGate reads, microseconds; nothing where it is too
  // small to matter. REQUIRES: RecordBehind was called.
  virtual std::optional<double> gate_clock_step_us() const { return std::nullopt; }

  // Evicts from the device's L2 cache all that is in it. Throws MachineError when memory is short,
  // which it takes at the first call. Does nothing where caches are not controlled: on the host
  // machine.
  virtual void EvictL2() {}
  // The clock of the device's multiprocessors, MHz, now; nothing where it cannot be told.
  virtual std::optional<int> clock_mhz() { return std::nullopt; }

  // `observer` hears of calls before they start: of each one by itself on the host machine, of all
  // that are timed together on a GPU, where the host does not see them start.
  virtual void OnCalls(std::function<void(int calls)> observer) = 0;

  // Memory of the device. What is copied or filled here is ordered after everything enqueued so
  // far and before everything enqueued later. Allocate throws MachineError when memory is short.
  virtual std::unique_ptr<Buffer> Allocate(std::size_t bytes) = 0;
  virtual void CopyIn(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void CopyOut(std::span<std::byte> to, const std::byte* from) = 0;
  virtual void FillWords(std::byte* to, std::uint32_t word, std::size_t words) = 0;

  // Enqueues what does nothing for that long by the device's clock: this rank is late from there
  // on.
  virtual void EnqueueDelay(std::chrono::nanoseconds /*delay*/) {}
  // The same, for another time whenever it runs: DrawDelayNs (kernels/machine/drawn_delay.h) of
  // `state`, 8 bytes of the device's memory.
  virtual void EnqueueDrawnDelay(std::byte* /*state*/) {}

  // Makes calls that run now, and all later ones, end without a result; waits for them up to
  // `limit`. True: nothing runs any more. From any thread; the run is over afterwards. Kernels of
  // other libraries (NCCL) do not look at the abort word: they end with the process.
  virtual bool Abandon(std::chrono::milliseconds limit) = 0;
  // Copies device memory while calls may be stuck on the device; false, within `limit`, when not
  // all of it could be copied. From any thread.
  virtual bool Peek(std::span<std::byte> to, const std::byte* from,
                    std::chrono::milliseconds limit) = 0;

  // Exactly one of these is not null.
  virtual HostStream* host_stream() { return nullptr; }
  virtual GpuExecutor* gpu() { return nullptr; }
};

}  // namespace mailbench
