// Under mpirun: what one point runs, in which order, and what of it is counted.
#include "harness/measure/measure_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

// Takes as long as it is told, and notes what it is asked for.
class ScriptedExecutor : public Executor {
 public:
  class OneGraph : public Graph {
   public:
    explicit OneGraph(std::function<void()> replay) : replay_(std::move(replay)) {}
    void Replay() override { replay_(); }
    std::vector<KernelCount> kernels() const override { return {{"kernel", 3}}; }

   private:
    std::function<void()> replay_;
  };

  std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) override {
    enqueue();
    return std::make_unique<OneGraph>([this] { ++replays; });
  }
  double Time(int calls, const std::function<void()>& enqueue) override {
    enqueue();
    timed_calls.push_back(calls);
    return timed_calls.size() == 1 ? 1.0 : 1e-6 * calls;  // the first is slow
  }
  void OnCalls(std::function<void(int)> /*observer*/) override {}
  std::unique_ptr<Buffer> Allocate(std::size_t /*bytes*/) override { return nullptr; }
  void CopyIn(std::byte* /*to*/, std::span<const std::byte> /*from*/) override {}
  void CopyOut(std::span<std::byte> /*to*/, const std::byte* /*from*/) override {}
  void FillWords(std::byte* /*to*/, std::uint32_t /*word*/, std::size_t /*words*/) override {}
  bool Abandon(std::chrono::milliseconds /*limit*/) override { return true; }
  bool Peek(std::span<std::byte> /*to*/, const std::byte* /*from*/,
            std::chrono::milliseconds /*limit*/) override {
    return false;
  }

  int replays = 0;
  std::vector<int> timed_calls;
};

class CountingInstance : public Instance {
 public:
  void Bind(std::span<const Shape> shapes) override { slots_ = static_cast<int>(shapes.size()); }
  void Fill(int /*slot*/, std::uint64_t call) override { filled.push_back(call); }
  void Enqueue(int /*slot*/) override { ++enqueued; }
  CheckResult Verify(int slot, bool /*explain*/) override { return Check(slot); }
  CheckResult Check(int /*slot*/) override {
    CheckResult result;
    result.calls = 1;
    result.compared = 4;
    return result;
  }
  double input_copies_per_call() const override { return 0.5; }

  std::vector<std::uint64_t> filled;
  int enqueued = 0;

 private:
  int slots_ = 0;
};

struct Measured {
  PointRecord record;
  ScriptedExecutor executor;
  CountingInstance instance;
};

void Measure(Mode mode, bool check, Measured& measured) {
  RunConfig config;
  config.bytes = {16};
  config.warmup = 0;
  config.iters = config.replays = 5;
  config.calls_per_graph = 3;
  config.check = check;
  PointKey key;
  key.shape.bytes_per_rank = 16;
  key.shape.bytes_total = std::int64_t{16} * TestRanks().size();
  HeartbeatSlot slot{};
  Heartbeat heartbeat(&slot);
  CurrentInstance current;
  MpiReference reference(TestRanks());
  CallCounter calls;
  measured.record =
      MeasurePoint(key, mode, 0, measured.instance, calls,
                   {config, TestRanks(), measured.executor, reference, heartbeat, current});
}

TEST(MeasurePoint, TheFirstReplayOfAGraphIsNeverCounted) {
  Measured measured;
  Measure(Mode::kGraph, /*check=*/false, measured);
  EXPECT_EQ(measured.executor.replays, 1 + 5);
  EXPECT_EQ(measured.instance.enqueued, 3);
  ASSERT_EQ(measured.record.samples_us.size(), 5u);
  for (const double us : measured.record.samples_us) EXPECT_DOUBLE_EQ(us, 1.0);
  EXPECT_EQ(measured.record.calls_per_sample, 3);
  ASSERT_EQ(measured.record.kernels.size(), 1u);
  EXPECT_EQ(measured.record.kernels[0].count, 3);
  EXPECT_FALSE(measured.record.checked);
}

TEST(MeasurePoint, ChecksBeforeAndAfterTimingWithPayloadsOfTheirOwn) {
  Measured measured;
  Measure(Mode::kGraph, /*check=*/true, measured);
  // Two rounds, then what is timed; three slots each.
  EXPECT_EQ(measured.instance.filled.size(), 9u);
  EXPECT_TRUE(std::is_sorted(measured.instance.filled.begin(), measured.instance.filled.end()));
  EXPECT_EQ(std::adjacent_find(measured.instance.filled.begin(), measured.instance.filled.end()),
            measured.instance.filled.end());
  EXPECT_EQ(measured.record.check.calls, static_cast<std::uint64_t>(9 * TestRanks().size()));
  EXPECT_EQ(measured.record.check_reference, "mpi");
  EXPECT_DOUBLE_EQ(measured.record.input_copies_per_call, 0.5);
}

TEST(MeasurePoint, EagerSamplesAreOneCall) {
  Measured measured;
  Measure(Mode::kEager, /*check=*/true, measured);
  EXPECT_EQ(measured.executor.replays, 0);
  EXPECT_EQ(measured.record.calls_per_sample, 1);
  EXPECT_EQ(measured.executor.timed_calls, std::vector<int>(4 + 5, 1));
  EXPECT_EQ(measured.record.samples_us.size(), 5u);
}

}  // namespace
}  // namespace mailbench
