// What a round of a stress makes, and in which order: drawn, alike on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "harness/collective/shape.h"
#include "harness/stress/pattern.h"
#include "harness/stress/skew.h"

namespace mailbench {

// Of a round.
inline constexpr std::size_t kStressGraphs = 3;
inline constexpr std::size_t kStressSingleCalls = 2;

// About how many calls a round of a stress of so many has.
std::uint64_t CallsOfARound(std::uint64_t calls_wanted);

struct StressRound {
  std::vector<Shape> shapes;  // by slot: those of the first batch come first
  // Consecutive slots: the first kStressGraphs of them are graphs, the others are calls that the
  // host launches, one each.
  std::vector<int> batches;
  std::vector<int> steps;  // batches, in the order in which they are made
  std::uint64_t calls = 0;
  RoundSkew skew;

  int FirstSlot(int batch) const;
};

class RoundDraw {
 public:
  // REQUIRES: as SizeDraw of the shapes.
  RoundDraw(std::span<const Shape> shapes, int calls_per_graph, int ranks, std::uint64_t seed);

  // Of at least so many calls.
  StressRound Next(std::uint64_t calls);

 private:
  void AddGraphs(StressRound* round);
  void AddSteps(std::uint64_t calls, StressRound* round);

  SizeDraw sizes_;
  SkewDraw skew_;
  int calls_per_graph_;
  std::mt19937_64 generator_;
  std::size_t patterns_ = 0;  // that were used
};

}  // namespace mailbench
