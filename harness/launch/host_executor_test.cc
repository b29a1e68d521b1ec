#include "harness/launch/host_executor.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

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
