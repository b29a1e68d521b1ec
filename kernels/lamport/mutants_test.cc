// The checker's own examination: it finds each planted fault by the property expected, and lets
// each harmless edit pass.
#include "kernels/lamport/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>

namespace mailbench {

static void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.model.name; }

namespace {

SearchResult SearchMutant(const Mutant& mutant, const WorldRules& rules) {
  const std::unique_ptr<ModelWorld> world = mutant.model.make(mutant.scenario, rules);
  return Search(world->world(), {.kind = mutant.strategy, .schedules = mutant.schedules});
}

std::string TextOf(const SearchResult& result) {
  if (!result.violation) return "nothing in " + std::to_string(result.schedules) + " schedules";
  return std::string(ToString(result.violation->property)) + ": " + result.violation->text +
         ", schedule " + std::to_string(result.schedules);
}

class Mutants : public testing::TestWithParam<Mutant> {};

TEST_P(Mutants, MeetTheirFate) {
  const Mutant& mutant = GetParam();
  const SearchResult result = SearchMutant(mutant, mutant.rules);
  RecordProperty("found", TextOf(result));
  if (mutant.fate == Fate::kBenign) {
    EXPECT_FALSE(result.violation) << TextOf(result) << "\nThough " << mutant.why;
    EXPECT_EQ(result.schedules, mutant.schedules);
    return;
  }
  ASSERT_TRUE(result.violation) << TextOf(result) << "\nThough " << mutant.why;
  EXPECT_STREQ(ToString(result.violation->property), ToString(mutant.property)) << TextOf(result);
}

// A robustness grade: the same mutant is right with one call of lag less.
TEST_P(Mutants, HaveTheSlackOfTheirGrade) {
  const Mutant& mutant = GetParam();
  if (mutant.fate != Fate::kGrade) return;
  WorldRules rules = mutant.rules;
  --rules.lag;
  const SearchResult result = SearchMutant(mutant, rules);
  EXPECT_FALSE(result.violation) << TextOf(result);
}

INSTANTIATE_TEST_SUITE_P(Lamport, Mutants, testing::ValuesIn(LamportMutants()),
                         [](const testing::TestParamInfo<Mutant>& mutant) {
                           std::string name = mutant.param.model.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

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
