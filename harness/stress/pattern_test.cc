#include "harness/stress/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace mailbench {
namespace {

using testing::Each;
using testing::SizeIs;

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

std::vector<Shape> Shapes(const std::vector<std::int64_t>& sizes) {
  std::vector<Shape> shapes;
  for (const std::int64_t bytes : sizes) shapes.push_back({{{"bytes", bytes}}, bytes, 4 * bytes});
  return shapes;
}

std::vector<std::int64_t> Sizes(const std::vector<Shape>& calls) {
  std::vector<std::int64_t> sizes;
  for (const Shape& call : calls) sizes.push_back(call.bytes_per_rank);
  return sizes;
}

TEST(SizeDraw, PeriodsRepeatAndNeighboursDiffer) {
  const std::vector<Shape> shapes = Shapes({16, 32, 64, 128});
  SizeDraw draw(shapes, 1);
  for (int round = 0; round < 100; ++round) {
    for (const auto& [pattern, period] :
         std::map<StressPattern, std::size_t>{{StressPattern::kPeriod2, 2},
                                              {StressPattern::kPeriod3, 3},
                                              {StressPattern::kOdd, 2}}) {
      const auto sizes = Sizes(draw.Graph(pattern, 10, kPlenty));
      ASSERT_THAT(sizes, SizeIs(pattern == StressPattern::kOdd ? 9 : 10)) << ToString(pattern);
      for (std::size_t i = period; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], sizes[i - period]);
      EXPECT_NE(sizes[0], sizes[1]);
    }
  }
}

TEST(SizeDraw, OneLargeThenTheSmallest) {
  const std::vector<Shape> shapes = Shapes({16, 32, 64});
  SizeDraw draw(shapes, 2);
  auto sizes = Sizes(draw.Graph(StressPattern::kLargeThenTiny, 6, kPlenty));
  ASSERT_THAT(sizes, SizeIs(6));
  EXPECT_GT(sizes.front(), 16);
  sizes.erase(sizes.begin());
  EXPECT_THAT(sizes, Each(16));
}

TEST(SizeDraw, ALargeCallLeavesTheTinyOnesRoom) {
  constexpr std::int64_t kBudget = 10'000;
  const std::vector<Shape> shapes = Shapes({16, 512, 4096});  // four times as much is put out
  std::set<std::int64_t> large;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SizeDraw draw(shapes, seed);
    auto sizes = Sizes(draw.Graph(StressPattern::kLargeThenTiny, 200, kBudget));
    large.insert(sizes.front());
    sizes.erase(sizes.begin());
    EXPECT_THAT(sizes, SizeIs(testing::Ge(kBudget / 2 / 64)));
    EXPECT_THAT(sizes, Each(16));
  }
  EXPECT_THAT(large, testing::ElementsAre(512));
  // All of the few that follow have room.
  SizeDraw draw(shapes, 0);
  EXPECT_THAT(draw.Graph(StressPattern::kLargeThenTiny, 5, 4 * 512 + 4 * 64), SizeIs(5));
}

TEST(SizeDraw, LargeSizesAreDrawnLessOftenAndAllAreDrawn) {
  const std::vector<Shape> shapes = Shapes({16, 1024, 65536});
  SizeDraw draw(shapes, 3);
  std::map<std::int64_t, int> count;
  for (int i = 0; i < 10000; ++i) ++count[draw.Any().bytes_per_rank];
  EXPECT_GT(count[16], 4 * count[1024]);
  EXPECT_GT(count[1024], 4 * count[65536]);
  EXPECT_GT(count[65536], 20);
}

TEST(SizeDraw, IsTheSameForASeed) {
  const std::vector<Shape> shapes = Shapes({16, 32, 64, 128});
  SizeDraw a(shapes, 4);
  SizeDraw b(shapes, 4);
  SizeDraw c(shapes, 5);
  const auto sizes = Sizes(a.Graph(StressPattern::kRandom, 50, kPlenty));
  EXPECT_EQ(sizes, Sizes(b.Graph(StressPattern::kRandom, 50, kPlenty)));
  EXPECT_NE(sizes, Sizes(c.Graph(StressPattern::kRandom, 50, kPlenty)));
}

TEST(SizeDraw, OutputsStayWithinTheBudget) {
  const std::vector<Shape> shapes = Shapes({1024, 2048});
  SizeDraw draw(shapes, 6);
  for (const StressPattern pattern : kStressPatterns) {
    std::int64_t bytes = 0;
    const std::vector<Shape> calls = draw.Graph(pattern, 100, 100'000);
    for (const Shape& call : calls) bytes += call.bytes_total;
    EXPECT_LE(bytes, 100'000) << ToString(pattern);
    EXPECT_GT(calls.size(), 8u) << ToString(pattern);
    EXPECT_TRUE(pattern != StressPattern::kOdd || calls.size() % 2 == 1) << calls.size();
    EXPECT_THAT(draw.Graph(pattern, 100, 1), SizeIs(1));
  }
}

TEST(SizeDraw, OneSizeIsEnoughToGoOn) {
  const std::vector<Shape> shapes = Shapes({16});
  SizeDraw draw(shapes, 7);
  for (const StressPattern pattern : kStressPatterns) {
    EXPECT_THAT(Sizes(draw.Graph(pattern, 3, kPlenty)), Each(16));
    EXPECT_THAT(draw.Graph(pattern, 1, kPlenty), SizeIs(1));
  }
}

}  // namespace
}  // namespace mailbench
