#include "src/protocol_checker/parallel_search.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <stdexcept>

#include "src/protocol_checker/faulty_models.h"
#include "src/protocol_checker/models.h"

namespace mailbench {
namespace {

Scenario TwoCalls() {
  Scenario scenario;
  scenario.sizes = {1, 1};
  return scenario;
}

Model Lamport() { return *FindModel(RegisteredModels(), "lamport"); }

// The same steps in all: the same schedules, each once.
TEST(ParallelSearchTest, WorkersShareTheSchedulesOfASearch) {
  const Model model = Lamport();
  for (const StrategyKind kind : {StrategyKind::kBiased, StrategyKind::kPct, StrategyKind::kUniform,
                                  StrategyKind::kExhaustive}) {
    SearchOptions options;
    options.kind = kind;
    options.schedules = kind == StrategyKind::kExhaustive ? 1'000'000 : 100;
    options.delay_bound = 1;
    const ParallelResult one = SearchInParallel(model, TwoCalls(), {}, options, 1, {});
    for (const int workers : {2, 3, 7}) {
      const ParallelResult shared = SearchInParallel(model, TwoCalls(), {}, options, workers, {});
      EXPECT_EQ(shared.workers, workers);
      EXPECT_EQ(shared.total.schedules, one.total.schedules) << ToString(kind);
      EXPECT_EQ(shared.total.steps, one.total.steps) << ToString(kind);
      EXPECT_EQ(shared.total.exhausted, kind == StrategyKind::kExhaustive);
      EXPECT_FALSE(shared.total.violation);
    }
  }
}

TEST(ParallelSearchTest, NoMoreWorkersThanSchedules) {
  SearchOptions options;
  options.schedules = 3;
  const ParallelResult result = SearchInParallel(Lamport(), TwoCalls(), {}, options, 8, {});
  EXPECT_EQ(result.workers, 3);
  EXPECT_EQ(result.total.schedules, 3u);
}

TEST(ParallelSearchTest, AViolationStopsAllWorkers) {
  const Model torn = *FindModel(FaultyModels(), "torn");
  SearchOptions options;
  options.schedules = std::numeric_limits<std::uint64_t>::max();
  const ParallelResult result = SearchInParallel(torn, TwoCalls(), {}, options, 4, {});
  ASSERT_TRUE(result.total.violation);
  EXPECT_FALSE(result.total.exhausted);
  const std::unique_ptr<ModelWorld> world = torn.make(TwoCalls(), {});
  const ScheduleResult again = Replay(world->world(), result.total.schedule, nullptr);
  ASSERT_TRUE(again.violation);
  EXPECT_EQ(again.violation->text, result.total.violation->text);
}

TEST(ParallelSearchTest, ThrowsWhatAWorkerThrows) {
  Model broken = Lamport();
  broken.make = [](const Scenario&, const WorldRules&) -> std::unique_ptr<ModelWorld> {
    throw std::logic_error("no world");
  };
  EXPECT_THROW(SearchInParallel(broken, TwoCalls(), {}, {.schedules = 10}, 2, {}),
               std::logic_error);
}

TEST(ParallelSearchTest, EndsWhenAsked) {
  std::atomic<int> asked = 0;
  SearchOptions options;
  options.schedules = std::numeric_limits<std::uint64_t>::max();
  options.goes_on = [&](std::uint64_t) { return ++asked < 10; };
  const ParallelResult result = SearchInParallel(Lamport(), TwoCalls(), {}, options, 2, {});
  EXPECT_GE(asked, 10);
  EXPECT_GT(result.total.schedules, 0u);
  EXPECT_FALSE(result.total.violation);
}

TEST(ParallelSearchTest, ShowsItsProgress) {
  std::uint64_t seen = 0;
  const auto show = [&](std::uint64_t schedules) { seen = schedules; };
  SearchOptions options;
  options.schedules = std::numeric_limits<std::uint64_t>::max();
  options.seconds = 0.7;
  const ParallelResult result = SearchInParallel(Lamport(), TwoCalls(), {}, options, 2, show);
  EXPECT_GT(seen, 0u);
  EXPECT_LE(seen, result.total.schedules);
}

}  // namespace
}  // namespace mailbench
