// The start gate in front of the adversary, as it is and with one rule broken.
#include "kernels/start_gate/models.h"

#include <gtest/gtest.h>

#include <string>

#include "kernels/machine/adversary/search_model.h"
#include "kernels/start_gate/protocol.h"

namespace mailbench {
namespace {

constexpr GateThreads kShipped = {&AwaitRelease<AdversaryMachine>, &Release<AdversaryMachine>};

// Of so many ranks, which pass three generations.
Scenario Gate(int ranks, int threads = 1) {
  Scenario scenario;
  scenario.ranks = ranks;
  scenario.sizes = {1, 1, 1};
  scenario.threads = threads;
  return scenario;
}

void ExpectSurvives(const Model& model, const Scenario& scenario) {
  for (const StrategyKind kind : {StrategyKind::kBiased, StrategyKind::kPct}) {
    const SearchResult result = SearchModel(model, scenario, {}, {.kind = kind, .schedules = 500});
    EXPECT_FALSE(result.violation) << model.name << ": " << TextOf(result);
    EXPECT_EQ(result.schedules, 500u);
  }
}

void ExpectFound(const GateThreads& threads, Property property) {
  const SearchResult result = SearchModel(GateModel("mutant", "", threads), Gate(2), {},
                                          {.schedules = 500, .property = property});
  EXPECT_TRUE(result.violation) << ToString(property) << ": " << TextOf(result);
}

TEST(StartGateModels, SurviveRandomSchedules) {
  for (const Model& model : StartGateModels()) {
    for (const int ranks : {1, 2, 4}) {
      for (const int threads : {1, 2}) ExpectSurvives(model, Gate(ranks, threads));
    }
  }
}

TEST(StartGateModels, AreExhaustedWithTwoDelays) {
  for (const Model& model : StartGateModels()) {
    const SearchResult result =
        SearchModel(model, Gate(2), {},
                    {.kind = StrategyKind::kExhaustive, .schedules = 1'000'000, .delay_bound = 2});
    EXPECT_FALSE(result.violation) << model.name << ": " << TextOf(result);
    EXPECT_TRUE(result.exhausted);
    EXPECT_GT(result.schedules, 1'000u);
  }
}

void AwaitAnything(AdversaryMachine& m, const Latch* own, std::uint32_t generation) {
  const std::uint32_t* const word = &own->released.word[0];
  while (m.load_volatile_u32(word) == 0 && m.poll_again({word, 0, generation, 0, 0})) {
  }
}

TEST(StartGateMutants, AnOldGenerationThatOpensIsFound) {
  GateThreads threads = kShipped;
  threads.await = &AwaitAnything;
  ExpectFound(threads, Property::kOutput);
}

void AwaitChange(AdversaryMachine& m, const Latch* own, std::uint32_t generation) {
  const std::uint32_t* const word = &own->released.word[0];
  const std::uint32_t old = m.load_volatile_u32(word);
  while (m.load_volatile_u32(word) == old && m.poll_again({word, old, generation, 0, 0})) {
  }
}

TEST(StartGateMutants, AWaitForAChangeIsFoundToMissIt) {
  GateThreads threads = kShipped;
  threads.await = &AwaitChange;
  ExpectFound(threads, Property::kDeadlock);
}

void ReleaseAllButTheLast(AdversaryMachine& m, const StartGateView& gate,
                          std::uint32_t generation) {
  StartGateView fewer = gate;
  --fewer.ranks;
  Release(m, fewer, generation);
}

TEST(StartGateMutants, ARankThatIsNotReleasedIsFound) {
  GateThreads threads = kShipped;
  threads.release = &ReleaseAllButTheLast;
  ExpectFound(threads, Property::kDeadlock);
}

// The next generation is then released before all have passed this one, which they may then miss.
TEST(StartGateMutants, AReleaseWithoutTheMeetingThatG2AsksForIsFound) {
  GateThreads threads = kShipped;
  threads.meets = false;
  ExpectFound(threads, Property::kOutput);
  ExpectFound(threads, Property::kDeadlock);
}

void AwaitAtLeast(AdversaryMachine& m, const Latch* own, std::uint32_t generation) {
  const std::uint32_t* const word = &own->released.word[0];
  for (std::uint32_t seen = 0; (seen = m.load_volatile_u32(word)) < generation;) {
    if (!m.poll_again({word, seen, generation, 0, 0})) return;
  }
}

// G2: there is no later generation.
TEST(StartGateMutants, AWaitForALaterGenerationTooIsHarmless) {
  GateThreads threads = kShipped;
  threads.await = &AwaitAtLeast;
  ExpectSurvives(GateModel("at-least", "", threads), Gate(3));
}

}  // namespace
}  // namespace mailbench
