// Calls on the host machine. A graph is a recorded launch list.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "harness/launch/executor.h"
#include "kernels/machine/host/stream.h"

namespace mailbench {

class HostExecutor : public Executor {
 public:
  std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) override;
  double Time(const std::function<void()>& enqueue) override;
  void OnCall(std::function<void()> observer) override { stream_.OnLaunch(std::move(observer)); }
  HostStream* host_stream() override { return &stream_; }

 private:
  HostStream stream_;
};

}  // namespace mailbench
