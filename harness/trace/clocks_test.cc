#include "harness/trace/clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace mailbench {
namespace {

TEST(ClockOffset, ErrorsOfAChainAddUp) {
  const ClockOffset chain = Chain({100, 3}, Reverse({40, 5}));
  EXPECT_EQ(chain.add_ns, 60);
  EXPECT_EQ(chain.error_ns, 8);
}

TEST(OffsetBounds, TheTightestOfEachSideCount) {
  OffsetBounds bounds;  // the other clock shows 1000 more
  bounds.After(1990, 1000);
  bounds.Before(1000, 2090);
  EXPECT_EQ(bounds.Offset().add_ns, 1040);
  EXPECT_EQ(bounds.Offset().error_ns, 50);
  bounds.After(2900, 2000);
  bounds.Before(2000, 3020);
  EXPECT_EQ(bounds.Offset().add_ns, 1005);
  EXPECT_EQ(bounds.Offset().error_ns, 15);
}

TEST(OffsetBounds, BoundsThatCrossAreAnError) {
  OffsetBounds bounds;
  bounds.After(1120, 100);
  bounds.Before(100, 1100);
  EXPECT_EQ(bounds.Offset().add_ns, 1010);
  EXPECT_EQ(bounds.Offset().error_ns, 10);
}

// Messages that take from 1 to 30 us, in both directions at once.
TEST(OffsetOf, HoldsWhatItPromises) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> delay(1'000, 30'000);
  for (const std::int64_t ahead :
       {std::int64_t{0}, std::int64_t{-77'000'000'001}, std::int64_t{1'700'000'000'000'000'000}}) {
    std::vector<ClockMeeting> meetings;
    for (std::int64_t round = 0; round < 50; ++round) {
      ClockMeeting meeting;  // the other clock is `ahead`
      const std::int64_t own = 1'000'000 * (round + 1);
      const std::int64_t other = own + delay(random);
      meeting.own_before = own;
      meeting.other_before = other + ahead;
      meeting.own_after = other + delay(random);
      meeting.other_after = std::max(own + delay(random), other) + ahead;
      meetings.push_back(meeting);
    }
    const ClockOffset offset = OffsetOf(meetings);
    EXPECT_LE(std::abs(offset.add_ns - ahead), offset.error_ns) << ahead;
    EXPECT_LT(offset.error_ns, 30'000);
    EXPECT_GT(offset.error_ns, 0);
  }
}

// A clock that goes on in steps, asked through a link that takes from 1 to 5 us each way.
TEST(OffsetByAsking, HoldsWhatItPromisesOfAClockThatSteps) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::int64_t> delay(1'000, 5'000);
  constexpr std::int64_t kMostDelay = 5'000;
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{32}, std::int64_t{1'000'000}}) {
    for (const std::int64_t ahead : {std::int64_t{0}, std::int64_t{-77'000'000'001},
                                     std::int64_t{1'700'000'000'000'000'000}}) {
      std::int64_t time = 100'000'000'000;  // that `now` tells
      const auto now = [&] { return time; };
      const auto ask = [&] {
        time += delay(random);
        const std::int64_t shown = (time + ahead) - (time + ahead) % step;
        time += delay(random);
        return shown;
      };
      const ClockOffset offset = OffsetByAsking(ask, now, step, 300);
      EXPECT_LE(std::abs(offset.add_ns + ahead), offset.error_ns) << step << ", " << ahead;
      EXPECT_LE(offset.error_ns, kMostDelay + step) << step << ", " << ahead;
      EXPECT_GT(offset.error_ns, 0) << step << ", " << ahead;
    }
  }
}

// The answer came at once, as far as a clock of coarse steps can tell, and was a step old.
TEST(OffsetByAsking, AnAnswerMayBeAsOldAsAStep) {
  const auto now = [] { return std::int64_t{1'999}; };
  const auto ask = [] { return std::int64_t{1'000}; };
  const ClockOffset offset = OffsetByAsking(ask, now, 1'000, 1);
  EXPECT_GE(offset.error_ns, std::abs(offset.add_ns));
  EXPECT_EQ(offset.error_ns, 500);
}

}  // namespace
}  // namespace mailbench
