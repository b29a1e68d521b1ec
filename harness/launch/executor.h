// Where calls run and are timed: a stream of the host machine here, a CUDA stream on a GPU.
#pragma once

#include <functional>
#include <memory>

namespace mailbench {

class HostStream;

// Recorded calls with their arguments frozen.
class Graph {
 public:
  virtual ~Graph() = default;
  // Enqueues every recorded call, in the order of the recording.
  virtual void Replay() = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Records what `enqueue` puts on the stream instead of running it.
  virtual std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) = 0;
  // Runs what `enqueue` puts on the stream to its end; returns the seconds that this rank took.
  virtual double Time(const std::function<void()>& enqueue) = 0;

  // `observer` is called before each call starts, wherever the host sees it start.
  virtual void OnCall(std::function<void()> observer) = 0;

  // The host machine's stream; null where calls run on a GPU.
  virtual HostStream* host_stream() { return nullptr; }
};

}  // namespace mailbench
