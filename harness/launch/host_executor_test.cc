#include "harness/launch/host_executor.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <thread>

#include "kernels/machine/drawn_delay.h"

namespace mailbench {
namespace {

TEST(HostExecutor, RecordsInsteadOfRunning) {
  HostExecutor executor;
  int ran = 0;
  const auto graph =
      executor.Record([&] { executor.host_stream()->Launch([&](GridRunner&) { ++ran; }); });
  EXPECT_EQ(ran, 0);
  graph->Replay();
  graph->Replay();
  EXPECT_EQ(ran, 2);
}

TEST(HostExecutor, EachReplayDrawsItsDelay) {
  HostExecutor executor;
  const std::uint64_t seed = 7;
  const auto memory = executor.Allocate(sizeof(seed));
  executor.CopyIn(memory->data(), std::as_bytes(std::span(&seed, 1)));
  const auto graph = executor.Record([&] { executor.EnqueueDrawnDelay(memory->data()); });
  std::uint64_t expected = seed;
  for (int replay = 0; replay < 3; ++replay) {
    std::uint64_t state = 0;
    executor.CopyOut(std::as_writable_bytes(std::span(&state, 1)), memory->data());
    EXPECT_EQ(state, expected);
    DrawDelayNs(&expected);
    graph->Replay();
  }
}

TEST(HostExecutor, IsUsableAfterARecordingThatThrew) {
  HostExecutor executor;
  EXPECT_THROW(executor.Record([] { throw std::runtime_error("planted"); }), std::runtime_error);
  int ran = 0;
  executor.host_stream()->Launch([&](GridRunner&) { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(HostExecutor, TimesUntilTheCallsHaveRun) {
  HostExecutor executor;
  const double seconds = executor.Time(1, [&] {
    executor.host_stream()->Launch(
        [](GridRunner&) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); });
  });
  EXPECT_GE(seconds, 0.03);
}

}  // namespace
}  // namespace mailbench
