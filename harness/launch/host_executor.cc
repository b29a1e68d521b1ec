#include "harness/launch/host_executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "harness/error.h"
#include "harness/launch/start_gate.h"
#include "kernels/machine/drawn_delay.h"
#include "kernels/start_gate/host_start_gate.h"

namespace mailbench {
namespace {

constexpr std::align_val_t kAlignment{256};

class RecordedLaunches : public Graph {
 public:
  RecordedLaunches(HostStream& stream, HostGraph graph)
      : stream_(stream), graph_(std::move(graph)) {}
  void Replay() override { stream_.Replay(graph_); }

 private:
  HostStream& stream_;
  HostGraph graph_;
};

class HostBuffer : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes)
      : data_(static_cast<std::byte*>(operator new(bytes, kAlignment))) {}
  ~HostBuffer() override { operator delete(data_, kAlignment); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  std::byte* data() const override { return data_; }

 private:
  std::byte* data_;
};

void PassTime(std::chrono::nanoseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

std::unique_ptr<Graph> HostExecutor::Record(const std::function<void()>& enqueue) {
  stream_.BeginCapture();
  try {
    enqueue();
  } catch (...) {
    stream_.EndCapture();
    throw;
  }
  return std::make_unique<RecordedLaunches>(stream_, stream_.EndCapture());
}

double HostExecutor::Time(int /*calls*/, const std::function<void()>& enqueue) {
  // Launches of a host stream end before the call that enqueues them returns; words that they have
  // stored by multicast may still be on their way.
  const auto start = std::chrono::steady_clock::now();
  enqueue();
  stream_.Synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::unique_ptr<Graph> HostExecutor::RecordBehind(StartGate& /*gate*/,
                                                  const std::function<void()>& enqueue) {
  return Record(enqueue);
}

double HostExecutor::TimeFromGate(StartGate& gate, int calls, Graph& behind) {
  const std::uint32_t generation = gate.NextGeneration();
  gate.Meet();
  if (gate.releases()) ReleaseOnHost(gate.view(), generation, stream_.runner());
  AwaitReleaseOnHost(gate.own(), generation, stream_.runner());
  return Time(calls, [&] { behind.Replay(); });
}

void HostExecutor::OnCalls(std::function<void(int)> observer) {
  stream_.OnLaunch([observer = std::move(observer)] { observer(1); });
}

std::unique_ptr<Buffer> HostExecutor::Allocate(std::size_t bytes) {
  try {
    return std::make_unique<HostBuffer>(bytes);
  } catch (const std::bad_alloc&) {
    throw MachineError(std::to_string(bytes) + " bytes of memory are not to be had");
  }
}

void HostExecutor::CopyIn(std::byte* to, std::span<const std::byte> from) {
  stream_.Synchronize();
  std::memcpy(to, from.data(), from.size());
}

void HostExecutor::CopyOut(std::span<std::byte> to, const std::byte* from) {
  stream_.Synchronize();
  std::memcpy(to.data(), from, to.size());
}

void HostExecutor::FillWords(std::byte* to, std::uint32_t word, std::size_t words) {
  stream_.Synchronize();
  std::fill_n(reinterpret_cast<std::uint32_t*>(to), words, word);
}

void HostExecutor::EnqueueDelay(std::chrono::nanoseconds delay) {
  stream_.LaunchAside([delay](GridRunner&) { PassTime(delay); });
}

void HostExecutor::EnqueueDrawnDelay(std::byte* state) {
  stream_.LaunchAside([drawn = reinterpret_cast<std::uint64_t*>(state)](GridRunner&) {
    PassTime(std::chrono::nanoseconds(DrawDelayNs(drawn)));
  });
}

bool HostExecutor::Peek(std::span<std::byte> to, const std::byte* from,
                        std::chrono::milliseconds /*limit*/) {
  // Word by word: fibers may be writing them.
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= to.size(); at += sizeof(std::uint32_t)) {
    auto& word = *reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(from) + at);
    const std::uint32_t value =
        std::atomic_ref<std::uint32_t>(word).load(std::memory_order_relaxed);
    std::memcpy(to.data() + at, &value, sizeof(value));
  }
  return true;
}

}  // namespace mailbench
