// The clock of a GPU's marks: %globaltimer.
#pragma once

#include <cstdint>
#include <string>

#include "harness/gpu/gpu_executor.h"
#include "harness/trace/clocks.h"

namespace mailbench {

class GpuMarkClock : public MarkClock {
 public:
  // Watches the clock step. Throws SystemError. `executor` outlives it; nothing runs there while a
  // function of this does.
  explicit GpuMarkClock(GpuExecutor& executor);

  std::string name() const override { return name_; }  // the GPU's UUID
  std::int64_t step_ns() const override { return step_ns_; }
  // By questions that a kernel answers through memory of the host. Throws SystemError, also when it
  // does not answer.
  ClockOffset ToHost() override;

 private:
  GpuExecutor& executor_;
  std::string name_;
  std::int64_t step_ns_ = 0;
};

}  // namespace mailbench
