// Findings of gathers that break a rule, made small.
#include "kernels/machine/adversary/minimise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "kernels/machine/adversary/search_model.h"
#include "src/protocol_checker/faulty_models.h"
#include "src/protocol_checker/models.h"

namespace mailbench {
namespace {

Model Faulty(const std::string& name) { return *FindModel(FaultyModels(), name); }
Model Registered(const std::string& name) { return *FindModel(RegisteredModels(), name); }

Finding Find(const Model& model, const Scenario& scenario, SearchOptions options = {}) {
  options.schedules = 10'000;
  const SearchResult result = SearchModel(model, scenario, {}, options);
  EXPECT_TRUE(result.violation) << model.name;
  return {scenario, result.schedule, result.violation.value_or(Violation{})};
}

Scenario Gathers(int ranks, std::vector<std::int64_t> sizes) {
  Scenario scenario;
  scenario.ranks = ranks;
  scenario.sizes = std::move(sizes);
  return scenario;
}

Scenario Recorded(std::vector<std::int64_t> sizes, int replays, bool producer) {
  Scenario scenario = Gathers(2, std::move(sizes));
  scenario.replays = replays;
  scenario.producer = producer;
  return scenario;
}

// The finding, run again in a world of its own.
std::string TextOfReplay(const Model& model, const Finding& finding) {
  const std::unique_ptr<ModelWorld> world = model.make(finding.scenario, {});
  const ScheduleResult result = Replay(world->world(), finding.schedule, nullptr);
  return result.violation ? result.violation->text : "";
}

TEST(MinimiseTest, ATornPackNeedsOneRankOneCallAndOneDelay) {
  const Model torn = Faulty("torn");
  const Finding found = Find(torn, Gathers(3, {2, 1, 2, 3}));
  const Finding small = Minimise(torn, {}, found, {});
  EXPECT_EQ(small.violation.property, found.violation.property);
  EXPECT_EQ(small.scenario.ranks, 1);
  EXPECT_EQ(small.scenario.sizes, std::vector<std::int64_t>{1});
  EXPECT_EQ(small.schedule.kind, StrategyKind::kExhaustive);
  EXPECT_LE(small.schedule.delays.size(), 1u);
  EXPECT_EQ(TextOfReplay(torn, small), small.violation.text);
}

// One call would do for another property: a word is left behind.
TEST(MinimiseTest, KeepsTheProperty) {
  const Model unreset = Faulty("unreset");
  const Finding overrun = Find(unreset, Gathers(2, {1, 2, 1, 2, 1}));
  ASSERT_EQ(overrun.violation.property, Property::kOverrun);
  const Finding small = Minimise(unreset, {}, overrun, {});
  EXPECT_EQ(small.violation.property, Property::kOverrun);
  EXPECT_EQ(small.scenario.ranks, 1);
  EXPECT_EQ(small.scenario.sizes, (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_TRUE(small.schedule.delays.empty());
  EXPECT_EQ(TextOfReplay(unreset, small), small.violation.text);

  const Finding leftover = Find(unreset, Gathers(2, {2, 2}));
  ASSERT_EQ(leftover.violation.property, Property::kLeftover);
  EXPECT_EQ(Minimise(unreset, {}, leftover, {}).scenario.sizes, std::vector<std::int64_t>{1});
}

TEST(MinimiseTest, DropsReplaysAndProducersThatAreNotNeeded) {
  const Model torn = Faulty("torn");
  const Finding small = Minimise(torn, {}, Find(torn, Recorded({1, 2}, 3, true)), {});
  EXPECT_EQ(small.scenario.replays, 1);
  EXPECT_FALSE(small.scenario.producer);
}

TEST(MinimiseTest, KeepsReplaysAndProducersThatAreNeeded) {
  const Model unreset = Faulty("unreset");
  const Finding overrun = Find(unreset, Recorded({1}, 4, true));
  ASSERT_EQ(overrun.violation.property, Property::kOverrun);
  const MinimiseBudget quick = {.seconds_a_try = 0.05};
  const Finding replayed = Minimise(unreset, {}, overrun, quick);
  EXPECT_EQ(replayed.scenario.replays, 4);
  EXPECT_FALSE(replayed.scenario.producer);

  const Model hasty = Faulty("hasty");
  const Finding produced = Minimise(hasty, {}, Find(hasty, Recorded({1}, 2, true)), quick);
  EXPECT_EQ(produced.violation.property, Property::kOutput);
  EXPECT_EQ(produced.scenario.replays, 1);
  EXPECT_TRUE(produced.scenario.producer);
}

TEST(MinimiseTest, EndsWhenAsked) {
  const Model torn = Faulty("torn");
  const Finding found = Find(torn, Gathers(3, {2, 1}));
  MinimiseBudget budget;
  budget.goes_on = [] { return false; };
  const Finding same = Minimise(torn, {}, found, budget);
  EXPECT_EQ(same.scenario.sizes, found.scenario.sizes);
  EXPECT_EQ(same.schedule.number, found.schedule.number);
}

// Also when other properties are violated first.
TEST(MinimiseTest, ASearchForOnePropertyPassesOverOthers) {
  const Model unreset = Faulty("unreset");
  SearchOptions options;
  options.property = Property::kDeadlock;
  options.schedules = 50;
  const SearchResult result = SearchModel(unreset, Gathers(2, {1, 1}), {}, options);
  EXPECT_FALSE(result.violation);
  EXPECT_EQ(result.schedules, 50u);
}

TEST(MinimiseTest, WithoutTimeTheSeededScheduleStays) {
  const Model torn = Faulty("torn");
  const Finding found = Find(torn, Gathers(2, {1, 2}), {.kind = StrategyKind::kPct, .seed = 7});
  MinimiseBudget budget;
  budget.seconds = 0;
  budget.delay_bound = 0;
  const Finding same = Minimise(torn, {}, found, budget);
  EXPECT_EQ(same.scenario.sizes, found.scenario.sizes);
  EXPECT_EQ(same.schedule.kind, StrategyKind::kPct);
  EXPECT_EQ(same.schedule.number, found.schedule.number);
  EXPECT_EQ(TextOfReplay(torn, same), found.violation.text);
}

// A kernel that writes its result in the first schedule only.
TEST(ReplayTest, NoResultOutlivesItsSchedule) {
  World world(1, {});
  std::uint32_t result = 0;
  int runs = 0;
  world.Expect(0, "result", &result, {7});
  world.AddLaunch(0, 0, "call 0", {1, 1}, 0, [&](AdversaryThread&) {
    if (runs++ == 0) result = 7;
  });
  ScheduleId schedule;
  EXPECT_FALSE(Replay(world, schedule, nullptr).violation);
  const ScheduleResult second = Replay(world, schedule, nullptr);
  ASSERT_TRUE(second.violation);
  EXPECT_EQ(second.violation->property, Property::kOutput);
  EXPECT_EQ(second.violation->wanted, 7u);
}

// A schedule of each strategy in turn; the delays of the exhaustive one fall within its steps.
ScheduleId ScheduleOfSeed(std::uint64_t seed) {
  using enum StrategyKind;
  constexpr StrategyKind kKinds[] = {kBiased, kPct, kUniform, kExhaustive};
  ScheduleId schedule;
  schedule.kind = kKinds[seed % std::size(kKinds)];
  schedule.seed = seed;
  schedule.number = seed / 3;
  schedule.pct_steps = 100;
  schedule.delays = {seed % 50, 50 + seed % 37};
  return schedule;
}

// What a schedule did, all of it, and what it violated.
struct Replayed {
  ScheduleResult result;
  std::vector<Event> trace;
};

Replayed ReplayIn(ModelWorld& world, const ScheduleId& schedule) {
  Replayed replayed;
  replayed.result = Replay(world.world(), schedule, &replayed.trace);
  return replayed;
}

void ExpectSame(const Replayed& once, const Replayed& again) {
  EXPECT_FALSE(once.trace.empty());
  EXPECT_TRUE(std::equal(once.trace.begin(), once.trace.end(), again.trace.begin(),
                         again.trace.end(), [](const Event& a, const Event& b) {
                           return a.step == b.step && a.rank == b.rank && a.text == b.text;
                         }));
  EXPECT_EQ(once.result.steps, again.result.steps);
  ASSERT_EQ(once.result.violation.has_value(), again.result.violation.has_value());
  if (!once.result.violation) return;
  EXPECT_EQ(once.result.violation->property, again.result.violation->property);
  EXPECT_EQ(once.result.violation->text, again.result.violation->text);
  EXPECT_EQ(once.result.violation->place, again.result.violation->place);
}

// Two worlds at different places in memory, of which the second has run other schedules before.
TEST(ReplayTest, IsExactOverAThousandSeeds) {
  for (const Model& model : {Faulty("torn"), Faulty("unreset"), Registered("mnnvl")}) {
    const Scenario scenario = Gathers(2, {1, 2, 1, 2});
    const std::unique_ptr<ModelWorld> first = model.make(scenario, {});
    const std::unique_ptr<ModelWorld> second = model.make(scenario, {});
    int violations = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      SCOPED_TRACE(model.name + ", seed " + std::to_string(seed));
      const ScheduleId schedule = ScheduleOfSeed(seed);
      const Replayed once = ReplayIn(*first, schedule);
      Replay(second->world(), ScheduleOfSeed(seed + 1), nullptr);
      ExpectSame(once, ReplayIn(*second, schedule));
      if (testing::Test::HasFailure()) return;
      violations += once.result.violation ? 1 : 0;
    }
    EXPECT_GT(violations, 0) << model.name;
  }
}

// The trace is only written, never asked.
TEST(ReplayTest, IsTheSameWithoutATrace) {
  const Model mnnvl = Registered("mnnvl");
  const std::unique_ptr<ModelWorld> world = mnnvl.make(Gathers(2, {1, 2, 1, 2}), {});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const ScheduleId schedule = ScheduleOfSeed(seed);
    const ScheduleResult traced = ReplayIn(*world, schedule).result;
    const ScheduleResult bare = Replay(world->world(), schedule, nullptr);
    ASSERT_EQ(traced.steps, bare.steps) << "seed " << seed;
    ASSERT_EQ(traced.violation.has_value(), bare.violation.has_value()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mailbench
