// The known-bad all-gathers in front of the adversary: what is known to be wrong is found, what is
// not wrong is not.
#include "kernels/known_bad/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/machine/adversary/search_model.h"
#include "kernels/machine/hex.h"

namespace mailbench {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::uint64_t kSeeds = 20;
// A seed's. The slowest of the seeds finds the stale word in 60.
constexpr std::uint64_t kSchedules = 500;
constexpr StrategyKind kRandom[] = {StrategyKind::kBiased, StrategyKind::kPct};

Model Named(const std::string& name) {
  const std::vector<Model> models = KnownBadModels();
  return *std::find_if(models.begin(), models.end(),
                       [&](const Model& model) { return model.name == name; });
}

std::vector<Model> Survivors() {
  return {Named("mnnvl-register-capacity"), Named("mnnvl-polled-callstride"),
          Named("mnnvl-polled-capacity")};
}

Scenario Calls(Sizes sizes) {
  Scenario scenario;
  scenario.sizes = std::move(sizes);
  return scenario;
}

void ExpectClean(const Model& model, const Scenario& scenario, const WorldRules& rules,
                 const SearchOptions& options) {
  const SearchResult result = SearchModel(model, scenario, rules, options);
  EXPECT_FALSE(result.violation) << model.name << ", " << ToString(options.kind) << ", seed "
                                 << options.seed << ": " << result.violation->text;
}

void ExpectFound(const Model& model, const Scenario& scenario, const WorldRules& rules,
                 const SearchOptions& options, Property property) {
  const SearchResult result = SearchModel(model, scenario, rules, options);
  ASSERT_TRUE(result.violation) << model.name << ", " << ToString(options.kind) << ", seed "
                                << options.seed;
  EXPECT_EQ(result.violation->property, property) << result.violation->text;
}

TEST(KnownBad, HasAllNames) {
  std::vector<std::string> names;
  for (const Model& model : KnownBadModels()) names.push_back(model.name);
  EXPECT_EQ(names, (std::vector<std::string>{"mnnvl", "mnnvl-older", "mnnvl-register-callstride",
                                             "mnnvl-register-capacity", "mnnvl-polled-callstride",
                                             "mnnvl-polled-capacity"}));
}

TEST(KnownBad, EverySeedFindsTheStaleWord) {
  for (const StrategyKind kind : kRandom) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      for (const char* name : {"mnnvl", "mnnvl-register-callstride"}) {
        ExpectFound(Named(name), Calls({1, 2, 1, 2}), {},
                    {.kind = kind, .seed = seed, .schedules = kSchedules}, Property::kOutput);
      }
    }
  }
}

// The own copy is ordered before the end of the grid then, and so before the next call's cleaning.
TEST(KnownBad, AnAliasFenceAfterThePublishLetsNoWordGoStale) {
  const Model fenced =
      MnnvlModel<MnnvlNewer, Publish::kMulticastAliasFence>("mnnvl-alias-fence", "");
  for (const StrategyKind kind : kRandom) {
    ExpectClean(fenced, Calls({1, 2, 1, 2}), {}, {.kind = kind, .schedules = 10 * kSchedules});
  }
}

// A word that rank 1 published in the first call arrives in the fourth, as rank 0's.
TEST(KnownBad, TheStaleWordIsTheRanksOwn) {
  const SearchResult result =
      SearchModel(Named("mnnvl"), Calls({1, 2, 1, 2}), {},
                  {.kind = StrategyKind::kExhaustive, .schedules = 20'000, .delay_bound = 2});
  ASSERT_TRUE(result.violation);
  EXPECT_EQ(result.violation->text, "rank 1's output of call 3, word 4: expected " +
                                        Hex(GatherWord(0, 3, 4)) + ", seen " +
                                        Hex(GatherWord(1, 0, 0)));
  EXPECT_EQ(result.schedule.delays.size(), 2u);
}

// It needs both the register self-slot and the size-dependent stride.
TEST(KnownBad, TheOtherThreeCellsSurviveTheSameBudget) {
  for (const Model& model : Survivors()) {
    for (const StrategyKind kind : kRandom) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        ExpectClean(model, Calls({1, 2, 1, 2}), {},
                    {.kind = kind, .seed = seed, .schedules = kSchedules});
      }
    }
  }
}

TEST(KnownBad, TheOtherThreeCellsAreExhaustedWithTwoDelays) {
  for (const Model& model : Survivors()) {
    const SearchResult result =
        SearchModel(model, Calls({1, 1, 1, 2}), {},
                    {.kind = StrategyKind::kExhaustive, .schedules = 200'000, .delay_bound = 2});
    EXPECT_FALSE(result.violation) << model.name << ": " << result.violation->text;
    EXPECT_TRUE(result.exhausted) << model.name;
  }
}

TEST(KnownBad, OneDelayIsTooFewForTheStaleWord) {
  const SearchResult result =
      SearchModel(Named("mnnvl"), Calls({1, 2, 1, 2}), {},
                  {.kind = StrategyKind::kExhaustive, .schedules = 200'000, .delay_bound = 1});
  EXPECT_FALSE(result.violation);
  EXPECT_TRUE(result.exhausted);
}

// Each stage has one size for ever: the stale word lies where only a copy of its own source goes.
TEST(KnownBad, SizesWithAPeriodOfThreeHideIt) {
  for (const Sizes& sizes : {Sizes{2, 2, 2, 2, 2, 2}, Sizes{1, 2, 3, 1, 2, 3}}) {
    for (const StrategyKind kind : kRandom) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        ExpectClean(Named("mnnvl"), Calls(sizes), {},
                    {.kind = kind, .seed = seed, .schedules = kSchedules});
      }
    }
  }
}

TEST(KnownBad, OtherSizesShowIt) {
  for (const Sizes& sizes : {Sizes{4, 1, 1, 1}, Sizes{2, 1, 2, 1, 2, 1}}) {
    for (const StrategyKind kind : kRandom) {
      ExpectFound(Named("mnnvl"), Calls(sizes), {}, {.kind = kind, .schedules = 5'000},
                  Property::kOutput);
    }
  }
}

TEST(KnownBad, NeitherLinksInOrderNorCompletionBetweenLaunchesHideIt) {
  WorldRules in_order;
  in_order.links_in_order = true;
  WorldRules serial;
  serial.programmatic_launch = false;
  for (const WorldRules& rules : {in_order, serial}) {
    for (const StrategyKind kind : kRandom) {
      ExpectFound(Named("mnnvl"), Calls({1, 2, 1, 2}), rules, {.kind = kind, .schedules = 5'000},
                  Property::kOutput);
    }
  }
}

// The own copy is a store like any other then, and lands before its grid ends.
TEST(KnownBad, WithoutMulticastThereIsNoStaleWord) {
  Scenario scenario = Calls({1, 2, 1, 2, 1, 2});
  scenario.multicast = false;
  for (const StrategyKind kind : kRandom) {
    ExpectClean(Named("mnnvl"), scenario, {}, {.kind = kind, .schedules = 5'000});
  }
}

// The older generation's faults, each without the other and without the stale word's two.
struct StoresWeakly : MnnvlPolledCapacity {
  static constexpr PublishStore kStore = PublishStore::kWeak;
};
struct CleansTheNext : MnnvlPolledCapacity {
  static constexpr CleanedStage kCleaned = CleanedStage::kNext;
};

TEST(KnownBad, TheOlderGenerationRacesWithWhoPolls) {
  for (const bool multicast : {true, false}) {
    for (const StrategyKind kind : kRandom) {
      Scenario scenario = Calls({1, 2, 1, 2});
      scenario.multicast = multicast;
      const SearchOptions options = {.kind = kind, .schedules = kSchedules};
      ExpectFound(Named("mnnvl-older"), scenario, {}, options, Property::kRace);
      ExpectFound(MnnvlModel<StoresWeakly>("weak", ""), scenario, {}, options, Property::kRace);
    }
  }
}

// A peer that is ahead has published into it already, and nobody publishes that again.
TEST(KnownBad, TheOlderGenerationErasesAPeersPayload) {
  const Model model = MnnvlModel<CleansTheNext>("next", "");
  for (const bool multicast : {true, false}) {
    for (const StrategyKind kind : kRandom) {
      Scenario scenario = Calls({1, 1, 1, 1});
      scenario.multicast = multicast;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        ExpectFound(model, scenario, {}, {.kind = kind, .seed = seed, .schedules = kSchedules},
                    Property::kDeadlock);
      }
      // No stage is used a second time in three calls: there is nothing to clean yet.
      scenario.sizes.pop_back();
      ExpectClean(model, scenario, {}, {.kind = kind, .schedules = kSchedules});
    }
  }
}

// No fault, a grade: cleaning the previous stage has no call of slack, resetting at once has one.
TEST(KnownBad, CleaningThePreviousStageHasNoSlack) {
  WorldRules rules;
  rules.lag = 1;
  const SearchResult result = SearchModel(Named("mnnvl-polled-capacity"), Calls({1, 1, 1, 1, 1}),
                                          rules, {.schedules = 5'000});
  EXPECT_TRUE(result.violation);
}

// The first CTA keeps its place until all have come.
TEST(KnownBad, OnePlaceForCtasIsADeadlock) {
  WorldRules rules;
  rules.resident_ctas = 1;
  ExpectFound(Named("mnnvl-polled-capacity"), Calls({2}), rules, {.schedules = 10},
              Property::kDeadlock);
}

}  // namespace
}  // namespace mailbench
