#include "kernels/machine/host/stream.h"

#include <stdexcept>
#include <utility>

namespace mailbench {

void HostStream::Run(const HostGraph::Recorded& recorded) {
  if (recorded.observed && on_launch_) on_launch_();
  recorded.launch(runner_);
}

void HostStream::Enqueue(HostGraph::Recorded recorded) {
  if (capturing_) {
    captured_.launches_.push_back(std::move(recorded));
  } else {
    Run(recorded);
  }
}

void HostStream::Launch(HostLaunch launch) { Enqueue({std::move(launch), true}); }
void HostStream::LaunchAside(HostLaunch launch) { Enqueue({std::move(launch), false}); }

void HostStream::Delay(LateStores* stores) {
  late_stores_ = stores;
  runner_.Delay(stores);
}

void HostStream::Synchronize() {
  if (late_stores_ != nullptr) late_stores_->LandAll();
}

void HostStream::BeginCapture() {
  if (capturing_) throw std::logic_error("a capture is open on this stream already");
  capturing_ = true;
}

HostGraph HostStream::EndCapture() {
  if (!capturing_) throw std::logic_error("no capture is open on this stream");
  capturing_ = false;
  return std::exchange(captured_, HostGraph{});
}

void HostStream::Replay(const HostGraph& graph) {
  if (capturing_) throw std::logic_error("a graph cannot be replayed into a capture");
  for (const HostGraph::Recorded& recorded : graph.launches_) Run(recorded);
}

}  // namespace mailbench
