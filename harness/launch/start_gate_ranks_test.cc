// Under mpirun: calls that the start gate holds back, on the host transport.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "harness/launch/host_executor.h"
#include "harness/launch/start_gate.h"
#include "harness/memory/host_transport.h"
#include "harness/ranks/test_ranks.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {
namespace {

TEST(TimeFromGate, NoCallStartsBeforeTheLastRankHasCome) {
  const Ranks& ranks = TestRanks();
  HostTransport transport(ranks);
  const auto region = transport.Allocate(StartGate::kBytes);
  StartGate gate(region->view(), ranks);
  HostExecutor executor;
  std::int64_t started = 0;
  const std::unique_ptr<Graph> behind = executor.RecordBehind(gate, [&] {
    executor.host_stream()->LaunchAside([&](GridRunner&) {
      started = MonotonicNow();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    });
  });
  EXPECT_EQ(started, 0);
  for (int late = 0; late < ranks.size(); ++late) {
    if (ranks.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::int64_t came = MonotonicNow();
    const double seconds = executor.TimeFromGate(gate, 1, *behind);
    const auto ended = static_cast<double>(MonotonicNow());
    const double last_came = ranks.Max(static_cast<double>(came));
    EXPECT_GE(static_cast<double>(started), last_came);
    EXPECT_GE(seconds, 0.002);
    // Its clock starts with the release: what it waits for the others is no part of its time.
    EXPECT_LE(seconds, (ended - last_came) * 1e-9);
  }
  EXPECT_EQ(gate.NextGeneration(), static_cast<std::uint32_t>(ranks.size()) + 1);
  region->Free();
}

}  // namespace
}  // namespace mailbench
