#include "harness/launch/host_executor.h"

#include <chrono>
#include <utility>

namespace mailbench {
namespace {

class RecordedLaunches : public Graph {
 public:
  RecordedLaunches(HostStream& stream, HostGraph graph)
      : stream_(stream), graph_(std::move(graph)) {}
  void Replay() override { stream_.Replay(graph_); }

 private:
  HostStream& stream_;
  HostGraph graph_;
};

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

double HostExecutor::Time(const std::function<void()>& enqueue) {
  // Launches of a host stream end before the call that enqueues them returns.
  const auto start = std::chrono::steady_clock::now();
  enqueue();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace mailbench
