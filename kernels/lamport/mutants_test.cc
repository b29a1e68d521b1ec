// The checker's own examination: it finds each planted fault by the property expected, and lets
// each harmless edit pass.
#include "kernels/lamport/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

#include "kernels/lamport/models.h"

namespace mailbench {

static void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.model.name; }

namespace {

SearchResult SearchMutant(const Mutant& mutant, const WorldRules& rules, StrategyKind strategy) {
  const std::unique_ptr<ModelWorld> world = mutant.model.make(mutant.scenario, rules);
  return Search(world->world(), {.kind = strategy, .schedules = mutant.schedules});
}

std::string TextOf(const SearchResult& result) {
  if (!result.violation) return "nothing in " + std::to_string(result.schedules) + " schedules";
  return std::string(ToString(result.violation->property)) + ": " + result.violation->text +
         ", schedule " + std::to_string(result.schedules);
}

void ExpectSurvives(const Mutant& mutant, const WorldRules& rules) {
  for (const StrategyKind strategy : {StrategyKind::kBiased, StrategyKind::kPct}) {
    const SearchResult result = SearchMutant(mutant, rules, strategy);
    EXPECT_FALSE(result.violation) << TextOf(result) << "\nThough " << mutant.why;
    EXPECT_EQ(result.schedules, mutant.schedules);
  }
}

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, MeetTheirFate) {
  const Mutant& mutant = GetParam();
  if (mutant.fate == Fate::kBenign) {
    ExpectSurvives(mutant, mutant.rules);
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
  ExpectSurvives(mutant, rules);
}

INSTANTIATE_TEST_SUITE_P(Lamport, Mutants, testing::ValuesIn(LamportMutants()),
                         [](const testing::TestParamInfo<Mutant>& mutant) {
                           std::string name = mutant.param.model.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The scenarios that kill mutants do not kill what ships.
TEST(LamportMutants, AreKilledWhereTheShippedGathersSurvive) {
  for (const Mutant& mutant : LamportMutants()) {
    // Two streams break REQUIRES, and so does the lag that kills grades.
    if (mutant.fate != Fate::kKilled || mutant.scenario.streams > 1) continue;
    for (const Model& model : LamportModels()) {
      Mutant shipped = mutant;
      shipped.model = model;
      shipped.schedules = 100;
      SCOPED_TRACE(model.name + " in the scenario of " + mutant.model.name);
      ExpectSurvives(shipped, mutant.rules);
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
}

}  // namespace
}  // namespace mailbench
