// The checker's own examination: it finds each planted fault by the property expected, and lets
// each harmless edit pass.
#include "kernels/lamport/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>

#include "kernels/lamport/models.h"
#include "kernels/machine/adversary/search_model.h"

namespace mailbench {

static void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.model.name; }

namespace {

SearchResult SearchMutant(const Mutant& mutant, const WorldRules& rules, StrategyKind strategy) {
  return SearchModel(mutant.model, mutant.scenario, rules,
                     {.kind = strategy, .schedules = mutant.schedules});
}

void ExpectSurvives(const Mutant& mutant, const WorldRules& rules, StrategyKind strategy) {
  const SearchResult result = SearchMutant(mutant, rules, strategy);
  EXPECT_FALSE(result.violation) << TextOf(result) << "\nThough " << mutant.why;
  EXPECT_TRUE(result.exhausted || result.schedules == mutant.schedules);
}

void ExpectSurvivesAllRandom(const Mutant& mutant, const WorldRules& rules) {
  for (const StrategyKind strategy : {StrategyKind::kBiased, StrategyKind::kPct}) {
    ExpectSurvives(mutant, rules, strategy);
  }
}

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, MeetTheirFate) {
  const Mutant& mutant = GetParam();
  if (mutant.fate == Fate::kBenign || mutant.fate == Fate::kNotShown) {
    ExpectSurvivesAllRandom(mutant, mutant.rules);
    return;
  }
  const SearchResult result = SearchMutant(mutant, mutant.rules, mutant.strategy);
  RecordProperty("found", TextOf(result));
  ASSERT_TRUE(result.violation) << TextOf(result) << "\nThough " << mutant.why;
  EXPECT_STREQ(ToString(result.violation->property), ToString(mutant.property)) << TextOf(result);
  if (mutant.fate == Fate::kKilled) return;
  // A grade is right with one call of lag less.
  WorldRules rules = mutant.rules;
  --rules.lag;
  ExpectSurvivesAllRandom(mutant, rules);
}

INSTANTIATE_TEST_SUITE_P(Lamport, Mutants, testing::ValuesIn(LamportMutants()),
                         [](const testing::TestParamInfo<Mutant>& mutant) {
                           std::string name = mutant.param.model.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// What kills mutants does not kill what ships: the same scenario, strategy and schedules.
TEST(LamportMutants, AreKilledWhereTheShippedGathersSurvive) {
  for (const Mutant& mutant : LamportMutants()) {
    // Two streams break REQUIRES, and so does the lag that kills grades.
    if (mutant.fate != Fate::kKilled || mutant.scenario.streams > 1) continue;
    for (const Model& model : LamportModels()) {
      Mutant shipped = mutant;
      shipped.model = model;
      SCOPED_TRACE(model.name + " in the scenario of " + mutant.model.name);
      ExpectSurvives(shipped, mutant.rules, mutant.strategy);
    }
  }
}

TEST(LamportMutants, AreEnough) {
  const std::vector<Mutant> mutants = LamportMutants();
  const auto count = [&](Fate fate) {
    return std::count_if(mutants.begin(), mutants.end(),
                         [&](const Mutant& mutant) { return mutant.fate == fate; });
  };
  EXPECT_GE(count(Fate::kKilled), 15);
  EXPECT_GE(count(Fate::kBenign), 5);
  EXPECT_GE(count(Fate::kGrade), 1);
}

// Each row a fault or an edit of its own, with its origin and the argument.
TEST(LamportMutants, AreNamedAndArgued) {
  std::set<std::string> names;
  for (const Mutant& mutant : LamportMutants()) {
    EXPECT_TRUE(names.insert(mutant.model.name).second) << mutant.model.name;
    EXPECT_FALSE(mutant.model.summary.empty()) << mutant.model.name;
    EXPECT_FALSE(mutant.why.empty()) << mutant.model.name;
    EXPECT_GT(mutant.schedules, 0u) << mutant.model.name;
  }
}

// A property that kills nothing may as well be missing, and so may a strategy.
TEST(LamportMutants, AreKilledByEveryPropertyAndStrategy) {
  std::set<Property> properties;
  std::set<StrategyKind> strategies;
  for (const Mutant& mutant : LamportMutants()) {
    if (mutant.fate != Fate::kKilled) continue;
    properties.insert(mutant.property);
    strategies.insert(mutant.strategy);
  }
  using enum Property;
  EXPECT_EQ(properties,
            (std::set<Property>{kOutput, kLeftover, kRace, kOverrun, kDeadlock, kEndless}));
  using enum StrategyKind;
  EXPECT_EQ(strategies, (std::set<StrategyKind>{kBiased, kPct, kExhaustive}));
}

}  // namespace
}  // namespace mailbench
