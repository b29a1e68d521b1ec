#include "kernels/machine/host/stream.h"

#include <stdexcept>
#include <utility>

namespace mailbench {

void HostStream::Run(const HostLaunch& launch) {
  if (on_launch_) on_launch_();
  launch(runner_);
}

void HostStream::Launch(HostLaunch launch) {
  if (capturing_) {
    captured_.launches_.push_back(std::move(launch));
  } else {
    Run(launch);
  }
}

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
  for (const HostLaunch& launch : graph.launches_) Run(launch);
}

}  // namespace mailbench
