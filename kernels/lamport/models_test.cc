// The shipped all-gathers in front of the adversary.
#include "kernels/lamport/models.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/machine/adversary/search_model.h"

namespace mailbench {
namespace {

TEST(LamportModels, HaveAllNames) {
  std::vector<std::string> names;
  for (const Model& model : LamportModels()) names.push_back(model.name);
  EXPECT_EQ(names, (std::vector<std::string>{"lamport", "overlapped", "overlapped-acq-rel",
                                             "overlapped-after-publish", "lamport-alias-fence",
                                             "overlapped-alias-fence"}));
}

void ExpectSurvives(Scenario scenario) {
  for (const Model& model : LamportModels()) {
    for (const bool multicast : {true, false}) {
      scenario.multicast = multicast;
      for (const StrategyKind kind : {StrategyKind::kBiased, StrategyKind::kPct}) {
        const SearchResult result =
            SearchModel(model, scenario, {}, {.kind = kind, .schedules = 300});
        EXPECT_FALSE(result.violation) << model.name << ": " << TextOf(result);
        EXPECT_EQ(result.schedules, 300u);
      }
    }
  }
}

TEST(LamportModels, SurviveRandomSchedules) { ExpectSurvives({.ranks = 3, .sizes = {1, 2, 1, 2}}); }

// Three packs are two CTAs, one of them with a thread that has no pack.
TEST(LamportModels, SurviveWithSeveralThreadsACta) {
  ExpectSurvives({.sizes = {3, 1, 3, 1}, .threads = 2});
}

// The fourth call uses the slots of the first.
TEST(LamportModels, AreExhaustedWithTwoDelays) {
  for (const Model& model : LamportModels()) {
    Scenario scenario;
    scenario.sizes = {1, 1, 1, 1};
    const SearchResult result =
        SearchModel(model, scenario, {},
                    {.kind = StrategyKind::kExhaustive, .schedules = 1'000'000, .delay_bound = 2});
    EXPECT_FALSE(result.violation) << model.name << ": " << TextOf(result);
    EXPECT_TRUE(result.exhausted);
    EXPECT_GT(result.schedules, 20'000u);
  }
}

// Whenever it is cut short.
TEST(LamportModels, ASearchThatIsCutShortIsNotExhausted) {
  const Model model = LamportModels().front();
  Scenario scenario;
  scenario.ranks = 1;
  scenario.sizes = {1, 1};
  SearchOptions options = {
      .kind = StrategyKind::kExhaustive, .schedules = 1'000'000, .delay_bound = 2};
  const std::uint64_t all = SearchModel(model, scenario, {}, options).schedules;
  int asked = 0;
  int last = 0;  // question that is answered with yes
  options.goes_on = [&](std::uint64_t) { return ++asked <= last; };
  while (true) {
    asked = 0;
    const SearchResult result = SearchModel(model, scenario, {}, options);
    EXPECT_EQ(result.exhausted, asked <= last) << "question " << asked;
    EXPECT_EQ(result.exhausted, result.schedules == all) << "question " << asked;
    if (asked <= last) break;
    ++last;
  }
  EXPECT_GT(last, 3);
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
