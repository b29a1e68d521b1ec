// Streams and graphs of the host machine. Launches of a stream run in order, each to its end
// before the next begins. A graph is the recorded list of launches with their arguments frozen.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/machine/host/grid.h"

namespace mailbench {

using HostLaunch = std::function<void(GridRunner&)>;

class HostGraph {
 public:
  std::size_t size() const { return launches_.size(); }

 private:
  friend class HostStream;
  struct Recorded {
    HostLaunch launch;
    bool observed;
  };
  std::vector<Recorded> launches_;
};

class HostStream {
 public:
  HostStream() = default;
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;

  // Runs the launch now, or records it between BeginCapture and EndCapture.
  void Launch(HostLaunch launch);
  // The same of what is no call of a kernel that is observed: OnLaunch hears nothing of it.
  void LaunchAside(HostLaunch launch);

  // REQUIRES: no capture is open (Begin) or one is (End); otherwise std::logic_error.
  void BeginCapture();
  HostGraph EndCapture();

  void Replay(const HostGraph& graph);

  // Multicast stores of kernels land late, through these; all of them at Synchronize, which whoever
  // waits for the stream calls. They outlive the stream.
  void Delay(LateStores* stores);
  void Synchronize();

  // `observer` is called before each launch runs, but those that are aside.
  void OnLaunch(std::function<void()> observer) { on_launch_ = std::move(observer); }

  GridRunner& runner() { return runner_; }

 private:
  void Enqueue(HostGraph::Recorded recorded);
  void Run(const HostGraph::Recorded& recorded);

  GridRunner runner_;
  LateStores* late_stores_ = nullptr;
  std::function<void()> on_launch_;
  bool capturing_ = false;
  HostGraph captured_;
};

}  // namespace mailbench
