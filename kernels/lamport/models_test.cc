// The shipped all-gathers in front of the adversary.
#include "kernels/lamport/models.h"

#include <gtest/gtest.h>

#include "kernels/machine/adversary/search.h"

namespace mailbench {
namespace {

SearchResult SearchModel(const Model& model, const Scenario& scenario, const WorldRules& rules,
                         const SearchOptions& options) {
  const std::unique_ptr<ModelWorld> world = model.make(scenario, rules);
  return Search(world->world(), options);
}

std::string TextOf(const SearchResult& result) {
  return result.violation ? result.violation->text : "";
}

TEST(LamportModels, SurviveRandomSchedules) {
  for (const Model& model : LamportModels()) {
    for (const bool multicast : {true, false}) {
      for (const StrategyKind kind : {StrategyKind::kBiased, StrategyKind::kPct}) {
        Scenario scenario;
        scenario.ranks = 3;
        scenario.sizes = {1, 2, 1, 2};
        scenario.multicast = multicast;
        const SearchResult result =
            SearchModel(model, scenario, {}, {.kind = kind, .schedules = 300});
        EXPECT_FALSE(result.violation) << model.name << ": " << TextOf(result);
        EXPECT_EQ(result.schedules, 300u);
      }
    }
  }
}

TEST(LamportModels, AreExhaustedWithTwoDelays) {
  for (const Model& model : LamportModels()) {
    Scenario scenario;
    scenario.sizes = {1, 1};
    const SearchResult result =
        SearchModel(model, scenario, {},
                    {.kind = StrategyKind::kExhaustive, .schedules = 1'000'000, .delay_bound = 2});
    EXPECT_FALSE(result.violation) << model.name << ": " << TextOf(result);
    EXPECT_TRUE(result.exhausted);
    EXPECT_GT(result.schedules, 1'000u);
  }
}

// The third generation buys one call of slack.
TEST(LamportModels, HaveOneCallOfSlack) {
  for (const Model& model : LamportModels()) {
    for (const int lag : {1, 2}) {
      Scenario scenario;
      scenario.sizes = {1, 1, 1, 1, 1};
      WorldRules rules;
      rules.lag = lag;
      const SearchResult result = SearchModel(model, scenario, rules, {.schedules = 500});
      EXPECT_EQ(result.violation.has_value(), lag == 2) << model.name << ": " << TextOf(result);
    }
  }
}

}  // namespace
}  // namespace mailbench
