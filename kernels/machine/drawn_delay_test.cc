#include "kernels/machine/drawn_delay.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <set>

namespace mailbench {
namespace {

TEST(DrawDelayNs, DrawsSmallOnesAsOftenAsLargeOnes) {
  constexpr int kDraws = 7000;
  std::uint64_t state = 1;
  std::array<int, 7> octaves{};
  std::set<std::uint64_t> distinct;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t ns = DrawDelayNs(&state);
    ASSERT_GE(ns, kShortestDrawnDelayNs);
    ASSERT_LT(ns, kLongestDrawnDelayNs);
    distinct.insert(ns);
    ++octaves[static_cast<std::size_t>(std::bit_width(ns / kShortestDrawnDelayNs)) - 1];
  }
  for (const int draws : octaves) EXPECT_NEAR(draws, kDraws / 7.0, 150);
  EXPECT_GT(distinct.size(), kDraws / 4);
}

TEST(DrawDelayNs, FollowsFromTheState) {
  std::uint64_t a = 5;
  std::uint64_t b = 5;
  std::uint64_t c = 6;
  const std::uint64_t first = DrawDelayNs(&a);
  EXPECT_EQ(first, DrawDelayNs(&b));
  EXPECT_EQ(DrawDelayNs(&a), DrawDelayNs(&b));
  EXPECT_EQ(a, b);
  DrawDelayNs(&c);
  EXPECT_NE(a, c);
}

}  // namespace
}  // namespace mailbench
