// Under mpirun: what a stress makes of an instance, on an executor that runs nothing.
#include "harness/stress/stress_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "harness/launch/executor.h"
#include "harness/ranks/test_ranks.h"
#include "harness/stress/call_verifier.h"
#include "harness/stress/round.h"
#include "harness/validate/reference.h"
#include "harness/watchdog/current_instance.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {
namespace {

// Finds nothing wrong.
class Content : public CallVerifier {
 public:
  void Plant(const PlantedFault& /*fault*/) override {}
  void StartAt(std::uint64_t /*call*/) override {}
  void EnqueueFill(int /*batch*/) override {}
  void EnqueueVerify(int /*batch*/) override {}
  Verdict Take() override { return {}; }
  void FindOrigin(WrongWord* /*wrong*/) const override {}
};

class Idle : public Instance {
 public:
  void Bind(std::span<const Shape> /*shapes*/) override {
    ++rounds;
    bare = true;
  }
  void Fill(int /*slot*/, std::uint64_t /*call*/) override {}
  void Enqueue(int /*slot*/) override {}
  CheckResult Check(int /*slot*/) override { return {}; }
  std::unique_ptr<CallVerifier> MakeVerifier(std::span<const int> /*batches*/) override {
    bare = false;
    return std::make_unique<Content>();
  }

  std::size_t rounds = 0;  // that have begun
  bool bare = false;       // nothing of the round has been verified yet
};

class Scripted : public Executor {
 public:
  explicit Scripted(const Idle& instance) : instance_(instance) {}

  std::unique_ptr<Graph> Record(const std::function<void()>& enqueue) override {
    enqueue();
    return std::make_unique<Nothing>();
  }
  // A call by itself takes as many microseconds as the script says of the round.
  double Time(int calls, const std::function<void()>& enqueue) override {
    enqueue();
    if (!instance_.bare) return 0;
    bare_rounds.insert(instance_.rounds);
    return calls * 1e-6 * script.at(instance_.rounds - 1);
  }
  std::unique_ptr<Graph> RecordBehind(StartGate& /*gate*/,
                                      const std::function<void()>& enqueue) override {
    return Record(enqueue);
  }
  double TimeFromGate(StartGate& /*gate*/, int /*calls*/, Graph& /*behind*/) override { return 0; }
  void OnCalls(std::function<void(int)> /*observer*/) override {}
  std::unique_ptr<Buffer> Allocate(std::size_t bytes) override {
    return std::make_unique<Memory>(bytes);
  }
  void CopyIn(std::byte* to, std::span<const std::byte> from) override {
    std::copy(from.begin(), from.end(), to);
  }
  void CopyOut(std::span<std::byte> /*to*/, const std::byte* /*from*/) override {}
  void FillWords(std::byte* /*to*/, std::uint32_t /*word*/, std::size_t /*words*/) override {}
  void EnqueueDelay(std::chrono::nanoseconds /*delay*/) override { ++fixed_delays; }
  void EnqueueDrawnDelay(std::byte* state) override {
    ++drawn_delays;
    seeds.insert(*reinterpret_cast<std::uint64_t*>(state));
  }
  bool Abandon(std::chrono::milliseconds /*limit*/) override { return true; }
  bool Peek(std::span<std::byte> /*to*/, const std::byte* /*from*/,
            std::chrono::milliseconds /*limit*/) override {
    return false;
  }

  std::vector<double> script{9, 1, 5, 2, 3};
  std::set<std::size_t> bare_rounds;
  int fixed_delays = 0;
  int drawn_delays = 0;
  std::set<std::uint64_t> seeds;

 private:
  class Nothing : public Graph {
    void Replay() override {}
  };
  class Memory : public Buffer {
   public:
    explicit Memory(std::size_t bytes) : words_(bytes / sizeof(std::uint64_t)) {}
    std::byte* data() const override {
      return reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(words_.data()));
    }

   private:
    std::vector<std::uint64_t> words_;
  };

  const Idle& instance_;
};

TEST(RunStress, TimesBareCallsInSeveralRoundsAndDrawsDelaysWhereTheyRun) {
  RunConfig config;
  config.stress = 4000;
  StressRecord wanted;
  wanted.ranks = TestRanks().size();
  wanted.seed = config.seed;
  wanted.calls_per_graph = config.calls_per_graph;
  wanted.calls_wanted = 4000;
  for (const std::int64_t bytes : {16, 32}) wanted.shapes.push_back({{}, bytes, bytes});
  Idle instance;
  Scripted executor(instance);
  HeartbeatSlot slot{};
  Heartbeat heartbeat(&slot);
  CurrentInstance current;
  MpiReference reference(TestRanks());
  CallCounter calls;
  const MeasureContext context = {config,    TestRanks(), executor, reference,
                                  heartbeat, current,     nullptr};
  const StressRecord record =
      RunStress(wanted, 0, instance, calls, context, [](const StressRecord&) {});

  EXPECT_TRUE(record.finished);
  EXPECT_GT(instance.rounds, 10u);
  EXPECT_THAT(executor.bare_rounds, testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_NEAR(record.bare_us, 3, 1e-9);

  EXPECT_EQ(executor.fixed_delays, 0);
  EXPECT_GT(executor.drawn_delays, 0);
  EXPECT_GT(executor.seeds.size(), 1u);  // another each round
}

}  // namespace
}  // namespace mailbench
