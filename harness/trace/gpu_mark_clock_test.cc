// The clock of a real GPU, and the kernel that only lasts.
#include "harness/trace/gpu_mark_clock.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "harness/gpu/driver.h"
#include "kernels/machine/drawn_delay.h"

namespace mailbench {
namespace {

class GpuMarkClockTest : public testing::Test {
 protected:
  void SetUp() override {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) GTEST_SKIP() << "no GPU";
    executor_.emplace(LoadDriver());
  }

  std::optional<GpuExecutor> executor_;
};

TEST_F(GpuMarkClockTest, HasANameAndSteps) {
  const GpuMarkClock clock(*executor_);
  EXPECT_EQ(clock.name().rfind("%globaltimer of GPU-", 0), 0u) << clock.name();
  EXPECT_GT(clock.step_ns(), 0);
}

TEST_F(GpuMarkClockTest, ItsOffsetToTheHostIsTheSameTwice) {
  // What two clocks that run for themselves may drift apart between two measurements.
  constexpr std::int64_t kMostDriftNs = 100'000;
  GpuMarkClock clock(*executor_);
  const ClockOffset first = clock.ToHost();
  const ClockOffset second = clock.ToHost();
  EXPECT_GT(first.error_ns, 0);
  EXPECT_GT(second.error_ns, 0);
  EXPECT_LE(std::abs(first.add_ns - second.add_ns),
            first.error_ns + second.error_ns + kMostDriftNs);
}

TEST_F(GpuMarkClockTest, ADelayLasts) {
  constexpr std::chrono::milliseconds kDelay{4};
  const double seconds = executor_->Time(1, [&] { executor_->EnqueueDelay(kDelay); });
  EXPECT_GE(seconds, std::chrono::duration<double>(kDelay).count() / 2);  // another clock
}

TEST_F(GpuMarkClockTest, EachReplayDrawsItsDelay) {
  constexpr int kReplays = 3;
  std::uint64_t state = 7;
  const auto memory = executor_->Allocate(sizeof(state));
  executor_->CopyIn(memory->data(), std::as_bytes(std::span(&state, 1)));
  const auto graph = executor_->Record([&] { executor_->EnqueueDrawnDelay(memory->data()); });
  executor_->Time(kReplays, [&] {
    for (int replay = 0; replay < kReplays; ++replay) graph->Replay();
  });
  std::uint64_t expected = state;
  for (int replay = 0; replay < kReplays; ++replay) DrawDelayNs(&expected);
  executor_->CopyOut(std::as_writable_bytes(std::span(&state, 1)), memory->data());
  EXPECT_EQ(state, expected);
}

}  // namespace
}  // namespace mailbench
