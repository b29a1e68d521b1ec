#include "harness/measure/warm_up.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace mailbench {
namespace {

// Samples, clocks and times as they are told.
struct Script {
  std::vector<double> samples;                     // the last one repeats
  std::vector<RankClocks> clocks{{std::nullopt}};  // likewise
  double seconds_per_sample = 0;
  double most_seconds = kMostWarmUpSeconds;
  int taken = 0;
  std::size_t clocks_read = 0;

  WarmUp Run(int least) {
    return WarmUpUntilSteady(
        least, {.sample =
                    [&] {
                      const auto at = static_cast<std::size_t>(taken++);
                      return samples[std::min(at, samples.size() - 1)];
                    },
                .elapsed = [&] { return taken * seconds_per_sample; },
                .clocks_mhz = [&] { return clocks[std::min(clocks_read++, clocks.size() - 1)]; },
                .most_seconds = most_seconds});
  }
};

TEST(WarmUp, EndsWhenTwoBatchesAgree) {
  Script script{{9, 8, 7, 1, 1.01, 1.02, 1.0, 1.03, 1.02}};
  const WarmUp warm_up = script.Run(3);  // medians 8, 1.01, 1.02
  EXPECT_EQ(warm_up.samples, 9);
  EXPECT_EQ(warm_up.steady, true);
  EXPECT_EQ(warm_up.clocks_mhz, RankClocks{std::nullopt});
  EXPECT_EQ(script.taken, 9);
}

TEST(WarmUp, TwoPercentIsSteadyAndMoreIsNot) {
  EXPECT_EQ((Script{{100, 102}}).Run(1).samples, 2);
  EXPECT_EQ((Script{{100, 98}}).Run(1).samples, 2);
  EXPECT_EQ((Script{{100, 102.1, 102.1}}).Run(1).samples, 3);
  EXPECT_EQ((Script{{100, 97.9, 97.9}}).Run(1).samples, 3);
}

TEST(WarmUp, AClockThatStillMovesIsNotSteady) {
  Script script{{1}};
  script.clocks = {{345}, {1200}, {1980}};
  const WarmUp warm_up = script.Run(2);
  EXPECT_EQ(warm_up.samples, 8);  // 345, 1200, 1980, 1980
  EXPECT_EQ(warm_up.steady, true);
  EXPECT_EQ(warm_up.clocks_mhz, RankClocks{1980});
}

TEST(WarmUp, AClockOfOneRankThatStillMovesIsNotSteady) {
  Script script{{1}};
  script.clocks = {{1980, 1980, 1980}, {1980, 1755, 1980}, {1980, 1410, 1980}};
  const WarmUp warm_up = script.Run(2);
  EXPECT_EQ(warm_up.samples, 8);  // 1980, 1755, 1410, 1410
  EXPECT_EQ(warm_up.steady, true);
  EXPECT_EQ(warm_up.clocks_mhz, (RankClocks{1980, 1410, 1980}));
}

TEST(WarmUp, IsBoundedByCount) {
  Script script;
  for (int i = 0; i < 1000; ++i) script.samples.push_back(1 + i % 2);
  const WarmUp warm_up = script.Run(1);
  EXPECT_EQ(warm_up.samples, 1 + kMostWarmUpBatches);
  EXPECT_EQ(warm_up.steady, false);
}

TEST(WarmUp, StopsBeforeABatchThatWouldTakeItBeyondItsTime) {
  Script script;
  for (int i = 0; i < 1000; ++i) script.samples.push_back(1 + i % 2);
  script.seconds_per_sample = 0.6;
  WarmUp warm_up = script.Run(1);
  EXPECT_EQ(warm_up.samples, 3);  // after 1.8 s a fourth would end at 2.4 s
  EXPECT_EQ(warm_up.steady, false);
  // A source may have less time.
  script.taken = 0;
  script.seconds_per_sample = 0.6;
  script.most_seconds = 1;
  EXPECT_EQ(script.Run(1).samples, 1);
  // What is asked for is taken, however long it takes.
  script.taken = 0;
  script.seconds_per_sample = 10;
  warm_up = script.Run(5);
  EXPECT_EQ(warm_up.samples, 5);
  EXPECT_EQ(warm_up.steady, false);
}

TEST(WarmUp, NoneIsTakenWhereNoneIsAskedFor) {
  Script script{{1}};
  script.clocks = {{1755}};
  const WarmUp warm_up = script.Run(0);
  EXPECT_EQ(warm_up.samples, 0);
  EXPECT_EQ(script.taken, 0);
  EXPECT_EQ(warm_up.steady, std::nullopt);
  EXPECT_EQ(warm_up.clocks_mhz, RankClocks{1755});
}

}  // namespace
}  // namespace mailbench
