#include "harness/measure/latency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "harness/ranks/thread_ranks.h"

namespace mailbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ByRank = std::vector<std::vector<double>>;

PointRecord Summarized(const ByRank& us_by_rank) {
  PointRecord record;
  record.key.shape = {{{"bytes", 1000}}, 1000, 4000, 0.75};
  SummarizeLatency(us_by_rank, record);
  return record;
}

std::vector<std::int64_t> Longest(const PointRecord& record) {
  std::vector<std::int64_t> longest;
  for (const RankLatency& own : record.per_rank) longest.push_back(own.longest);
  return longest;
}

std::string Refusal(const ByRank& us_by_rank) {
  try {
    Summarized(us_by_rank);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(SummarizeLatency, IsOverTheSlowestRankOfEachSample) {
  const PointRecord record =
      Summarized({{1, 9, 3, 2, 5, 4}, {2, 8, 4, 1, 7, 3}, {0, 1, 6, 1, 6, 2}});
  EXPECT_THAT(record.samples_us, ElementsAre(2, 9, 6, 2, 7, 4));
  EXPECT_EQ(record.latency_us.min, 2);
  EXPECT_EQ(record.latency_us.p50, 5);
  EXPECT_EQ(record.latency_us.max, 9);
  EXPECT_EQ(record.latency_us.mean, 5);
  EXPECT_EQ(record.p50_interval_us.low, 2);
  EXPECT_EQ(record.p50_interval_us.high, 9);
  EXPECT_DOUBLE_EQ(record.p50_interval_us.confidence, 0.96875);
  EXPECT_DOUBLE_EQ(record.algbw_gb_per_s, 0.8);
  EXPECT_DOUBLE_EQ(record.busbw_gb_per_s, 0.6);
}

TEST(SummarizeLatency, KeepsEachRanksOwnTimes) {
  const PointRecord record = Summarized({{1, 9, 3}, {2, 8, 4}, {0, 1, 6}});
  ASSERT_EQ(record.per_rank.size(), 3U);
  EXPECT_EQ(record.per_rank[0].min, 1);
  EXPECT_EQ(record.per_rank[0].p50, 3);
  EXPECT_EQ(record.per_rank[0].max, 9);
  EXPECT_EQ(record.per_rank[2].min, 0);
  EXPECT_EQ(record.per_rank[2].p50, 1);
  EXPECT_EQ(record.per_rank[2].max, 6);
  EXPECT_THAT(Longest(record), ElementsAre(1, 1, 1));
}

TEST(SummarizeLatency, TiesGoToTheLowestRank) {
  const PointRecord record = Summarized({{1, 2, 2}, {3, 2, 2}, {3, 2, 2}});
  EXPECT_THAT(Longest(record), ElementsAre(2, 1, 0));
  const PointRecord even = Summarized({{1, 2}, {2, 1}});
  EXPECT_THAT(Longest(even), ElementsAre(1, 1));
}

TEST(SummarizeLatency, OneSampleOfOneRankIsAllThereIs) {
  const PointRecord record = Summarized({{7.5}});
  EXPECT_THAT(record.samples_us, ElementsAre(7.5));
  EXPECT_EQ(record.latency_us.max, 7.5);
  EXPECT_EQ(record.p50_interval_us.low, 7.5);
  EXPECT_EQ(record.p50_interval_us.confidence, 0);
  EXPECT_THAT(Longest(record), ElementsAre(1));
}

// No sample is taken for an outlier.
TEST(SummarizeLatency, EverySampleCounts) {
  ByRank us_by_rank(2, std::vector<double>(100, 2));
  us_by_rank[1][50] = 1e6;
  const PointRecord record = Summarized(us_by_rank);
  EXPECT_EQ(record.samples_us.size(), 100U);
  EXPECT_EQ(record.latency_us.max, 1e6);
  EXPECT_EQ(record.latency_us.mean, (99 * 2 + 1e6) / 100);
  EXPECT_THAT(Longest(record), ElementsAre(99, 1));
}

// Forgets nothing of the record before.
TEST(SummarizeLatency, ReplacesWhatTheRecordHeld) {
  PointRecord record;
  SummarizeLatency(ByRank{{1, 2}, {3, 4}, {5, 6}}, record);
  SummarizeLatency(ByRank{{1, 2}, {3, 4}}, record);
  EXPECT_THAT(record.samples_us, ElementsAre(3, 4));
  EXPECT_THAT(Longest(record), ElementsAre(0, 2));
}

TEST(SummarizeLatency, RefusesNaNAndSamplesThatAreMissing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Refusal({{1, 2}, {3, 4}, {5, nan}}), "rank 2's sample 1 is not a number");
  EXPECT_EQ(Refusal({{nan, 2}, {3, 4}}), "rank 0's sample 0 is not a number");
  EXPECT_EQ(Refusal({{1, 2}, {3}}), "rank 1 has 1 samples, rank 0 has 2");
  EXPECT_EQ(Refusal({{}, {}}), "rank 0 has no samples");
  EXPECT_EQ(Refusal({}), "a latency of no ranks");
}

// Of one rank, 2.15 us with some percent of noise.
std::vector<double> Noisy(int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank) + 1);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<double> own_us(200);
  for (double& us : own_us) us = 2.15 * std::exp(noise(random));
  return own_us;
}

TEST(GatherSamples, EveryRankHasThoseOfAllInOneMeeting) {
  constexpr int kRanks = 3;
  ThreadMeeting meeting(kRanks);
  RunThreadRanks(kRanks, meeting, [](ThreadRanks& ranks) {
    const int before = ranks.meetings();
    const ByRank gathered = GatherSamples(Noisy(ranks.rank()), ranks);
    EXPECT_EQ(ranks.meetings() - before, 1);
    ASSERT_EQ(gathered.size(), 3U);
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(gathered[static_cast<std::size_t>(rank)], Noisy(rank));
    }
  });
}

TEST(GatherSamples, ANaNOfOneRankIsRefusedOnAllAlike) {
  ThreadMeeting meeting(2);
  RunThreadRanks(2, meeting, [](ThreadRanks& ranks) {
    const double own = ranks.rank() == 1 ? std::nan("") : 1.0;
    EXPECT_THAT(Refusal(GatherSamples({2, own}, ranks)), HasSubstr("rank 1's sample 1"));
  });
}

}  // namespace
}  // namespace mailbench
