#include "harness/stress/skew.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace mailbench {
namespace {

using std::chrono::milliseconds;

TEST(SkewDraw, RanksGoRoundAndOneIsNeverLateInBothWays) {
  SkewDraw draw(3, 1);
  std::set<int> spinning;
  std::set<int> late;
  for (int round = 0; round < 3; ++round) {
    const RoundSkew skew = draw.Round(10, 10);
    EXPECT_NE(skew.spinning_rank, skew.late_rank);
    spinning.insert(skew.spinning_rank);
    late.insert(skew.late_rank);
  }
  EXPECT_EQ(spinning.size(), 3u);
  EXPECT_EQ(late.size(), 3u);
}

TEST(SkewDraw, EachRanksHostIsVeryLateInItsTurn) {
  for (const int ranks : {2, 3, 4, 8}) {
    SkewDraw draw(ranks, 1);
    std::set<int> late;
    for (int round = 0; round < 50 * ranks; ++round) {
      const RoundSkew skew = draw.Round(1, 1);
      if (skew.late_by >= milliseconds(500)) late.insert(skew.late_rank);
    }
    EXPECT_EQ(late.size(), static_cast<std::size_t>(ranks));
  }
}

TEST(SkewDraw, FewCallsSpinAndHostsAreLateForMillisecondsOrSeconds) {
  SkewDraw draw(4, 1);
  std::size_t calls = 0;
  std::size_t spun = 0;
  std::set<std::uint64_t> seeds;
  milliseconds shortest{1'000'000};
  milliseconds longest{0};
  for (int round = 0; round < 200; ++round) {
    const RoundSkew skew = draw.Round(100, 7);
    EXPECT_LT(skew.late_step, 7u);
    for (const bool spins : skew.spins) {
      ++calls;
      spun += spins ? 1 : 0;
    }
    seeds.insert(skew.spin_seed);
    shortest = std::min(shortest, skew.late_by);
    longest = std::max(longest, skew.late_by);
  }
  EXPECT_EQ(seeds.size(), 200u);
  EXPECT_GT(spun, calls / 32);
  EXPECT_LT(spun, calls / 8);
  EXPECT_LE(shortest, milliseconds(2));
  EXPECT_GE(longest, milliseconds(500));
  EXPECT_LE(longest, milliseconds(2000));
}

TEST(SkewDraw, HostsAreLateByTheMeanOnAverage) {
  constexpr int kRounds = 100'000;
  SkewDraw draw(4, 1);
  double seconds = 0;
  for (int round = 0; round < kRounds; ++round) {
    seconds += static_cast<double>(draw.Round(1, 1).late_by.count()) * 1e-3;
  }
  EXPECT_NEAR(seconds / kRounds, MeanLateSeconds(), 0.03 * MeanLateSeconds());
}

TEST(SkewDraw, IsTheSameForASeed) {
  SkewDraw a(4, 9);
  SkewDraw b(4, 9);
  SkewDraw c(4, 10);
  const RoundSkew of_a = a.Round(1000, 1000);
  const RoundSkew of_b = b.Round(1000, 1000);
  const RoundSkew of_c = c.Round(1000, 1000);
  EXPECT_EQ(of_a.spins, of_b.spins);
  EXPECT_EQ(of_a.spin_seed, of_b.spin_seed);
  EXPECT_EQ(of_a.late_step, of_b.late_step);
  EXPECT_EQ(of_a.late_by, of_b.late_by);
  EXPECT_NE(of_a.spins, of_c.spins);
}

TEST(SkewDraw, OneRankIsLateInBothWays) {
  SkewDraw draw(1, 1);
  const RoundSkew skew = draw.Round(1, 1);
  EXPECT_EQ(skew.spinning_rank, 0);
  EXPECT_EQ(skew.late_rank, 0);
}

}  // namespace
}  // namespace mailbench
