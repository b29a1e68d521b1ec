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
    order += 't';
    return timed_calls.size() == 1 ? 1.0 : 1e-6 * calls;  // the first is slow
  }
  std::unique_ptr<Graph> RecordBehind(StartGate& gate,
                                      const std::function<void()>& enqueue) override {
    gates.push_back(&gate);
    enqueue();
    return std::make_unique<OneGraph>([this] { ++replays_behind_gate; });
  }
  double TimeFromGate(StartGate& gate, int calls, Graph& behind) override {
    gates.push_back(&gate);
    behind.Replay();
    order += 'g';
    return 2e-6 * calls;
  }
  std::optional<double> gate_clock_step_us() const override {
    return 0.032 * (1 + TestRanks().rank());
  }
  void EvictL2() override { order += 'e'; }
  std::optional<int> clock_mhz() override {
    const std::size_t last = clocks.size() - 1;
    return clocks[std::min(clocks_read++, last)];
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

  // By reading; the last one repeats.
  std::vector<int> clocks{1755 + TestRanks().rank()};
  std::size_t clocks_read = 0;
  int replays = 0;
  int replays_behind_gate = 0;
  std::vector<int> timed_calls;
  std::vector<const StartGate*> gates;
  std::string order;  // of what was timed (t), timed from the gate (g) and evicted (e)
};

class CountingInstance : public Instance {
 public:
  void Bind(std::span<const Shape> shapes) override { bound.push_back(shapes.size()); }
  void Fill(int /*slot*/, std::uint64_t call) override { filled.push_back(call); }
  void Enqueue(int slot) override { enqueued.push_back(slot); }
  CheckResult Check(int /*slot*/) override {
    CheckResult result;
    result.calls = 1;
    result.compared = 4;
    return result;
  }
  double input_copies_per_call() const override { return 0.5; }
  int repeats() const override { return repeated; }

  int repeated = 1;
  std::vector<std::uint64_t> filled;
  std::vector<std::size_t> bound;  // slots, a Bind each
  std::vector<int> enqueued;       // slots
};

struct Measured {
  PointRecord record;
  ScriptedExecutor executor;
  CountingInstance instance;
};

L2Use Slots(int slots) {
  L2Use use;
  use.slots = slots;
  return use;
}

void Measure(Mode mode, bool check, Measured& measured, const L2Use& l2 = Slots(1),
             int warmup = 0) {
  RunConfig config;
  config.bytes = {16};
  config.warmup = warmup;
  config.iters = config.replays = 5;
  config.calls_per_graph = 3;
  config.check = check;
  SweepPoint point;
  point.mode = mode;
  point.l2 = l2;
  point.key.shape.bytes_per_rank = 16;
  point.key.shape.bytes_total = std::int64_t{16} * TestRanks().size();
  std::vector<Latch> latches(static_cast<std::size_t>(TestRanks().size()));
  SymmetricView memory;
  memory.rank = TestRanks().rank();
  for (Latch& latch : latches) memory.peers.push_back(reinterpret_cast<std::byte*>(&latch));
  StartGate gate(memory, TestRanks());
  HeartbeatSlot slot{};
  Heartbeat heartbeat(&slot);
  CurrentInstance current;
  MpiReference reference(TestRanks());
  CallCounter calls;
  const MeasureContext context = {config,  TestRanks(), measured.executor, reference, heartbeat,
                                  current, &gate};
  measured.record = MeasurePoint(point, 0, measured.instance, calls, context);
}

TEST(MeasurePoint, TheFirstReplayOfAGraphIsNeverCounted) {
  Measured measured;
  Measure(Mode::kGraph, /*check=*/false, measured, Slots(2));
  EXPECT_EQ(measured.executor.replays, 1 + 5);
  EXPECT_EQ(measured.instance.enqueued, (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(measured.instance.bound, std::vector<std::size_t>{2});
  EXPECT_EQ(measured.record.warmup.samples, 1);
  EXPECT_EQ(measured.record.warmup.steady, std::nullopt);
  ASSERT_EQ(measured.record.samples_us.size(), 5u);
  for (const double us : measured.record.samples_us) EXPECT_DOUBLE_EQ(us, 1.0);
  EXPECT_EQ(measured.record.calls_per_sample, 3);
  ASSERT_EQ(measured.record.kernels.size(), 1u);
  EXPECT_EQ(measured.record.kernels[0].count, 3);
  EXPECT_FALSE(measured.record.checked);
}

TEST(MeasurePoint, ChecksBeforeAndAfterTimingWithPayloadsOfTheirOwn) {
  Measured measured;
  Measure(Mode::kGraph, /*check=*/true, measured, Slots(2));
  // Two rounds of three calls on as many slots, then the two slots of what is timed.
  EXPECT_EQ(measured.instance.bound, (std::vector<std::size_t>{3, 2}));
  EXPECT_EQ(measured.instance.filled.size(), 8u);
  EXPECT_TRUE(std::is_sorted(measured.instance.filled.begin(), measured.instance.filled.end()));
  EXPECT_EQ(std::adjacent_find(measured.instance.filled.begin(), measured.instance.filled.end()),
            measured.instance.filled.end());
  EXPECT_EQ(measured.record.check.calls, static_cast<std::uint64_t>(8 * TestRanks().size()));
  EXPECT_EQ(measured.record.check_reference, "mpi");
  EXPECT_DOUBLE_EQ(measured.record.input_copies_per_call, 0.5);
}

TEST(MeasurePoint, WhatACallDoesSeveralTimesCountsAsOften) {
  for (const Mode mode : {Mode::kGraph, Mode::kEager, Mode::kIsolated}) {
    Measured measured;
    measured.instance.repeated = 4;
    Measure(mode, /*check=*/false, measured);
    EXPECT_EQ(measured.record.calls_per_sample, (mode == Mode::kGraph ? 3 : 1) * 4);
    const double call_us = mode == Mode::kIsolated ? 2.0 : 1.0;
    ASSERT_FALSE(measured.record.samples_us.empty());
    EXPECT_DOUBLE_EQ(measured.record.samples_us.back(), call_us / 4);
  }
}

TEST(MeasurePoint, EagerSamplesAreOneCall) {
  Measured measured;
  Measure(Mode::kEager, /*check=*/true, measured);
  EXPECT_EQ(measured.record.clock_step_us, std::nullopt);
  EXPECT_EQ(measured.executor.replays, 0);
  EXPECT_EQ(measured.record.calls_per_sample, 1);
  EXPECT_EQ(measured.executor.timed_calls, std::vector<int>(4 + 5, 1));
  EXPECT_EQ(measured.record.samples_us.size(), 5u);
}

TEST(MeasurePoint, IsolatedSamplesAreCallsFromTheGateButTheFirst) {
  Measured measured;
  Measure(Mode::kIsolated, /*check=*/true, measured);
  // Four rounds of the check, one call on the buffers of what is timed, then the samples.
  EXPECT_EQ(measured.executor.order, "tttttggggg");
  EXPECT_EQ(measured.executor.replays, 0);
  EXPECT_EQ(measured.executor.replays_behind_gate, 5);
  EXPECT_DOUBLE_EQ(measured.record.clock_step_us.value(), 0.032 * TestRanks().size());
  ASSERT_FALSE(measured.executor.gates.empty());
  for (const StartGate* gate : measured.executor.gates) {
    EXPECT_EQ(gate, measured.executor.gates.front());
  }
  EXPECT_EQ(measured.record.calls_per_sample, 1);
  EXPECT_EQ(measured.record.warmup.samples, 1);
  ASSERT_EQ(measured.record.samples_us.size(), 5u);
  for (const double us : measured.record.samples_us) EXPECT_DOUBLE_EQ(us, 2.0);
}

TEST(MeasurePoint, WhatIsColdIsEvictedBeforeEachSample) {
  L2Use cold = Slots(1);
  cold.evicts = true;
  cold.evicted = "everything";
  Measured eager;
  Measure(Mode::kEager, /*check=*/false, eager, cold, /*warmup=*/0);
  EXPECT_EQ(eager.executor.order, "eetetetetet");  // the first takes the memory
  EXPECT_EQ(eager.record.l2_evicted, "everything");
  Measured isolated;
  Measure(Mode::kIsolated, /*check=*/false, isolated, cold);
  EXPECT_EQ(isolated.executor.order, "etegegegegeg");
}

TEST(MeasurePoint, WarmsUpUntilSteadyAndReportsIt) {
  Measured measured;
  Measure(Mode::kIsolated, /*check=*/false, measured, Slots(1), /*warmup=*/3);
  EXPECT_EQ(measured.executor.order, "t" + std::string(3 + 3 + 5, 'g'));
  EXPECT_EQ(measured.record.warmup.samples, 1 + 3 + 3);
  EXPECT_EQ(measured.record.warmup.steady, true);
  EXPECT_EQ(measured.record.samples_us.size(), 5u);
  ASSERT_EQ(measured.record.per_rank.size(), static_cast<std::size_t>(TestRanks().size()));
  for (int rank = 0; rank < TestRanks().size(); ++rank) {
    const RankLatency& own = measured.record.per_rank[static_cast<std::size_t>(rank)];
    EXPECT_EQ(own.clock_before_mhz, 1755 + rank);
    EXPECT_EQ(own.clock_after_mhz, 1755 + rank);
  }
}

// The last rank's GPU is throttled, from where the others always are.
TEST(MeasurePoint, TheClockOfEachRankCounts) {
  Measured measured;
  const bool throttled = TestRanks().rank() == TestRanks().size() - 1;
  if (throttled) measured.executor.clocks = {1700, 1600, 1500, 1500, 1400};
  Measure(Mode::kIsolated, /*check=*/false, measured, Slots(1), /*warmup=*/2);
  EXPECT_EQ(measured.record.warmup.samples, 1 + 2 * 4) << "as many batches as clocks were seen";
  EXPECT_EQ(measured.record.per_rank.back().clock_before_mhz, 1500);
  EXPECT_EQ(measured.record.per_rank.back().clock_after_mhz, 1400);
  if (TestRanks().size() == 1) return;
  EXPECT_EQ(measured.record.per_rank.front().clock_before_mhz, 1755);
  EXPECT_EQ(measured.record.per_rank.front().clock_after_mhz, 1755);
}

}  // namespace
}  // namespace mailbench
