#include "harness/stress/round.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace mailbench {
namespace {

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (const std::int64_t bytes : {16, 32, 64, 1024}) {
    shapes.push_back({{{"bytes", bytes}}, bytes, 4 * bytes});
  }
  return shapes;
}

TEST(RoundDraw, StepsAreGraphsAndSingleCallsThatAddUp) {
  const std::vector<Shape> shapes = Shapes();
  RoundDraw draw(shapes, 10, 4, 1);
  for (int i = 0; i < 20; ++i) {
    const StressRound round = draw.Next(300);
    ASSERT_EQ(round.batches.size(), 5u);
    EXPECT_EQ(round.FirstSlot(5), static_cast<int>(round.shapes.size()));
    EXPECT_EQ(round.batches[3], 1);
    EXPECT_EQ(round.batches[4], 1);
    EXPECT_EQ(round.skew.spins.size(), round.shapes.size());
    std::set<int> made;
    std::uint64_t calls = 0;
    for (const int step : round.steps) {
      made.insert(step);
      calls += static_cast<std::uint64_t>(round.batches[static_cast<std::size_t>(step)]);
    }
    EXPECT_EQ(calls, round.calls);
    EXPECT_GE(calls, 300u);
    EXPECT_LE(calls, 310u);
    EXPECT_EQ(made.size(), 5u);
    EXPECT_LT(round.skew.late_step, round.steps.size());
  }
}

TEST(RoundDraw, GraphsDifferInLengthFromRoundToRound) {
  const std::vector<Shape> shapes = Shapes();
  RoundDraw draw(shapes, 10, 4, 1);
  std::set<int> lengths;
  for (int i = 0; i < 50; ++i) lengths.insert(draw.Next(1).batches[1]);
  EXPECT_GT(lengths.size(), 5u);
}

TEST(RoundDraw, IsTheSameForASeed) {
  const std::vector<Shape> shapes = Shapes();
  RoundDraw a(shapes, 10, 4, 3);
  RoundDraw b(shapes, 10, 4, 3);
  RoundDraw c(shapes, 10, 4, 4);
  const StressRound of_a = a.Next(500);
  EXPECT_EQ(of_a.steps, b.Next(500).steps);
  EXPECT_NE(of_a.steps, c.Next(500).steps);
}

}  // namespace
}  // namespace mailbench
