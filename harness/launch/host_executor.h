// Calls on the host machine. A graph is a recorded launch list.
#pragma once

#include <functional>
#include <memory>

#include "harness/launch/executor.h"
#include "kernels/machine/host/stream.h"

namespace mailbench {

class HostExecutor : public Executor {
 public:
  std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) override;
  double Time(int calls, const std::function<void()>& enqueue) override;
  std::unique_ptr<Graph> RecordBehind(StartGate& gate,
                                      const std::function<void()>& enqueue) override;
  double TimeFromGate(StartGate& gate, int calls, Graph& behind) override;
  void OnCalls(std::function<void(int)> observer) override;

  std::unique_ptr<Buffer> Allocate(std::size_t bytes) override;
  void CopyIn(std::byte* to, std::span<const std::byte> from) override;
  void CopyOut(std::span<std::byte> to, const std::byte* from) override;
  void FillWords(std::byte* to, std::uint32_t word, std::size_t words) override;
  void EnqueueDelay(std::chrono::nanoseconds delay) override;
  void EnqueueDrawnDelay(std::byte* state) override;

  // Fibers end with their process.
  bool Abandon(std::chrono::milliseconds /*limit*/) override { return true; }
  bool Peek(std::span<std::byte> to, const std::byte* from,
            std::chrono::milliseconds limit) override;

  HostStream* host_stream() override { return &stream_; }

 private:
  HostStream stream_;
};

}  // namespace mailbench
