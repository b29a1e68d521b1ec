#include "harness/trace/point_trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace mailbench {
namespace {

// A call of three ranks that publishes for 300 ns, waits for 900 and collects for 200.
CallTrace Call(std::uint64_t start, std::vector<std::uint64_t> awaited_for) {
  TraceTimes times;
  times.start = start;
  times.published = start + 300;
  times.first_arrival = start + 310;
  times.arrived = {start + 310, start + 1200, start + 1000};
  times.awaited_for = std::move(awaited_for);
  times.done = start + 1400;
  return {times, {times}};
}

// By rank, and by its calls, whom it waited for until when.
PointTrace Trace(const std::vector<std::vector<std::vector<std::uint64_t>>>& awaited_for) {
  PointTrace trace;
  trace.ctas = 1;
  trace.step_ns = 32;
  for (const auto& calls : awaited_for) {
    RankTrace& rank = trace.ranks.emplace_back();
    rank.offset.error_ns = 10 * static_cast<std::int64_t>(trace.ranks.size());
    for (const auto& call : calls) {
      rank.calls.push_back(Call(5000 * (rank.calls.size() + 1), call));
    }
  }
  return trace;
}

TEST(Summarize, NamesTheRankThatReceiversWaitedForLongest) {
  const TraceSummary summary = Summarize(Trace({
      {{0, 0, 9}, {0, 5, 9}, {0, 0, 0}, {0, 9, 0}},  // rank 0
      {{0, 0, 8}, {0, 0, 0}, {0, 0, 0}, {7, 0, 0}},
      {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 9, 0}},
  }));
  EXPECT_EQ(summary.calls, 4);
  EXPECT_EQ(summary.last_rank, 2);
  EXPECT_EQ(summary.last_calls, 2);
  EXPECT_EQ(summary.undecided_calls, 1) << "in the third nobody waited";
  EXPECT_EQ(summary.last_by_rank, (std::vector<int>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(summary.publish_us, 0.3);
  EXPECT_DOUBLE_EQ(summary.wait_us, 0.9);
  EXPECT_DOUBLE_EQ(summary.collect_us, 0.2);
  EXPECT_DOUBLE_EQ(summary.clock_error_us, 0.03);
  EXPECT_DOUBLE_EQ(summary.clock_step_us, 0.032);
  EXPECT_EQ(ToString(summary),
            "rank 2 was last in 50 % of 4 calls, none in 25 %; publish 0.30 us, wait 0.90 us, "
            "collect 0.20 us (medians); clocks within 0.030 us of rank 0's");
}

// Calls of four ranks in which the others wait for one that publishes late.
TEST(Straggler, IsTheRankThatIsWaitedFor) {
  constexpr std::size_t kRanks = 4;
  for (std::size_t slow = 0; slow < kRanks; ++slow) {
    std::vector<std::vector<std::vector<std::uint64_t>>> awaited_for(kRanks);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      for (std::uint64_t call = 0; call < 20; ++call) {
        std::vector<std::uint64_t> its(kRanks, rank == slow ? 0 : 30 * (call % 3));
        if (rank != slow) its[slow] = 5000 + call;
        awaited_for[rank].push_back(its);
      }
    }
    const TraceSummary summary = Summarize(Trace(awaited_for));
    EXPECT_EQ(Straggler(summary), static_cast<int>(slow));
    EXPECT_EQ(summary.last_calls, 20);
  }
}

TEST(Straggler, IsNobodyUnlessLastInMostCalls) {
  EXPECT_EQ(Straggler({.calls = 20, .last_rank = 3, .last_calls = 11}), 3);
  EXPECT_EQ(Straggler({.calls = 20, .last_rank = 3, .last_calls = 10}), std::nullopt);
  EXPECT_EQ(Straggler({.calls = 20, .last_rank = -1, .undecided_calls = 20}), std::nullopt);
}

TEST(Summarize, WhatComesAtOnceIsUndecided) {
  const TraceSummary summary = Summarize(Trace({
      {{0, 9, 9}, {0, 0, 9}},  // two in one look; the receivers disagree
      {{0, 0, 0}, {9, 0, 0}},
      {{0, 0, 0}, {0, 0, 0}},
  }));
  EXPECT_EQ(summary.last_rank, -1);
  EXPECT_EQ(summary.last_calls, 0);
  EXPECT_EQ(summary.undecided_calls, 2);
  EXPECT_EQ(ToString(summary).find("no rank was waited for in 2 calls; publish"), 0u);
}

TEST(CtasShown, KeepsATraceSmall) {
  EXPECT_EQ(CtasShown(3, 4, 20), 3);
  EXPECT_EQ(CtasShown(512, 4, 20), 16);
  EXPECT_EQ(CtasShown(512, 16, 20), 2);
  EXPECT_EQ(CtasShown(512, 72, 20), 0);
}

}  // namespace
}  // namespace mailbench
