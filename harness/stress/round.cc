#include "harness/stress/round.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "harness/measure/l2.h"

namespace mailbench {
namespace {

// Rounds that a stress has, unless they would be shorter or longer than this.
constexpr std::uint64_t kRounds = 100;
constexpr std::uint64_t kShortestRound = 200;  // calls
constexpr std::uint64_t kLongestRound = 100'000;
// Generators that start with one seed would draw alike.
constexpr std::uint64_t kSkewSeed = 0x5e3d;
constexpr std::uint64_t kOrderSeed = 0x0dde;

}  // namespace

std::uint64_t CallsOfARound(std::uint64_t calls_wanted) {
  return std::clamp(calls_wanted / kRounds, kShortestRound, kLongestRound);
}

int StressRound::FirstSlot(int batch) const {
  return std::accumulate(batches.begin(), batches.begin() + batch, 0);
}

RoundDraw::RoundDraw(std::span<const Shape> shapes, int calls_per_graph, int ranks,
                     std::uint64_t seed)
    : sizes_(shapes, seed),
      skew_(ranks, seed ^ kSkewSeed),
      calls_per_graph_(calls_per_graph),
      generator_(seed ^ kOrderSeed) {}

// The first graph is as long as graphs may be, the others are as long as it comes.
void RoundDraw::AddGraphs(StressRound* round) {
  for (std::size_t graph = 0; graph < kStressGraphs; ++graph) {
    const StressPattern pattern = kStressPatterns[patterns_++ % std::size(kStressPatterns)];
    const auto most = static_cast<std::uint64_t>(calls_per_graph_);
    const int calls = graph == 0 ? calls_per_graph_ : static_cast<int>(1 + generator_() % most);
    const std::vector<Shape> shapes =
        sizes_.Graph(pattern, calls, kOutputBudgetBytes / static_cast<std::int64_t>(kStressGraphs));
    round->batches.push_back(static_cast<int>(shapes.size()));
    round->shapes.insert(round->shapes.end(), shapes.begin(), shapes.end());
  }
}

void RoundDraw::AddSteps(std::uint64_t calls, StressRound* round) {
  const auto add = [&](int batch) {
    round->steps.push_back(batch);
    round->calls += static_cast<std::uint64_t>(round->batches[static_cast<std::size_t>(batch)]);
  };
  while (round->calls < calls) {
    add(static_cast<int>(generator_() % kStressGraphs));
    const std::uint64_t single = generator_() % (2 * kStressSingleCalls);
    if (single < kStressSingleCalls) add(static_cast<int>(kStressGraphs + single));
  }
}

StressRound RoundDraw::Next(std::uint64_t calls) {
  StressRound round;
  AddGraphs(&round);
  for (std::size_t single = 0; single < kStressSingleCalls; ++single) {
    round.shapes.push_back(sizes_.Any());
    round.batches.push_back(1);
  }
  AddSteps(calls, &round);
  round.skew = skew_.Round(round.shapes.size(), round.steps.size());
  return round;
}

}  // namespace mailbench
