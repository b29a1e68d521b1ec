#include "harness/trace/point_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "harness/trace/call_tracer.h"

namespace mailbench {
namespace {

// A call of three ranks that publishes for 300 ns, waits for 900 and collects for 200; the times in
// `awaited_for` are from its last publish on.
CallTrace Call(std::uint64_t start, std::vector<std::uint64_t> awaited_for) {
  TraceTimes times;
  times.start = start;
  times.published = start + 300;
  times.first_arrival = start + 310;
  times.arrived = {start + 310, start + 1200, start + 1000};
  for (std::uint64_t& time : awaited_for) {
    if (time != 0) time += times.published;
  }
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
      {{0, 0, 2000}, {0, 5, 2000}, {0, 0, 0}, {0, 9, 0}},  // rank 0
      {{0, 0, 1800}, {0, 0, 0}, {0, 0, 0}, {7, 0, 0}},
      {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 9, 0}},
  }));
  EXPECT_EQ(summary.calls, 4);
  EXPECT_EQ(summary.last_rank, 2);
  EXPECT_EQ(summary.last_calls, 2);
  EXPECT_EQ(summary.undecided_calls, 1) << "in the third nobody waited";
  EXPECT_EQ(summary.last_by_rank, (std::vector<int>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(summary.last_by_us, 1.05) << "waits of 1.9 and 2 us; its own are of 0.9";
  EXPECT_DOUBLE_EQ(summary.publish_us, 0.3);
  EXPECT_DOUBLE_EQ(summary.wait_us, 0.9);
  EXPECT_DOUBLE_EQ(summary.collect_us, 0.2);
  EXPECT_DOUBLE_EQ(summary.clock_error_us, 0.03);
  EXPECT_DOUBLE_EQ(summary.clock_step_us, 0.032);
  EXPECT_EQ(ToString(summary),
            "rank 2 was last in 50 % of 4 calls by 1.05 us, none in 25 %; publish 0.30 us, wait "
            "0.90 us, collect 0.20 us (medians); clocks within 0.030 us of rank 0's");
}

// Calls whose packs take 400 ns to anybody, of ranks that publish so long after the first of them.
// No two ranks' clocks show the same.
PointTrace LateBy(const std::vector<std::vector<std::uint64_t>>& late_ns_by_call) {
  constexpr std::uint64_t kHop = 400;
  const std::size_t ranks = late_ns_by_call.front().size();
  PointTrace trace;
  trace.ctas = 1;
  trace.step_ns = 32;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    RankTrace& its = trace.ranks.emplace_back();
    const std::uint64_t clock = 3'600'000'000'000 * (rank * 7 % 5);
    for (const std::vector<std::uint64_t>& late_ns : late_ns_by_call) {
      const std::uint64_t start = clock + 100'000 * (its.calls.size() + 1);
      TraceTimes times;
      times.start = start;
      times.published = start + late_ns[rank];
      for (const std::uint64_t late : late_ns) {
        const bool waits = late >= late_ns[rank];
        times.arrived.push_back(start + kHop + (waits ? late : late_ns[rank]));
        times.awaited_for.push_back(waits ? times.arrived.back() : 0);
      }
      times.first_arrival = times.published + kHop;
      times.done = times.last_arrival() + 100;
      its.calls.push_back({times, {times}});
    }
  }
  return trace;
}

constexpr double kP50Us = 2;  // of the point: 5 % of it are 100 ns

TEST(Straggler, IsTheRankThatIsWaitedFor) {
  constexpr std::size_t kRanks = 4;
  for (std::size_t slow = 0; slow < kRanks; ++slow) {
    std::vector<std::vector<std::uint64_t>> calls;
    for (std::uint64_t call = 0; call < 20; ++call) {
      std::vector<std::uint64_t> late_ns = {0, 10, 20, 10};
      std::rotate(late_ns.begin(), late_ns.begin() + static_cast<std::ptrdiff_t>(call % kRanks),
                  late_ns.end());
      late_ns[slow] = 5000 + call % 2;
      calls.push_back(late_ns);
    }
    const TraceSummary summary = Summarize(LateBy(calls));
    EXPECT_EQ(Straggler(summary, kP50Us), static_cast<int>(slow));
    EXPECT_EQ(summary.last_rank, static_cast<int>(slow));
    EXPECT_EQ(summary.last_calls, 20);
    EXPECT_NEAR(summary.last_by_us, 5, 0.025);
    EXPECT_EQ(Straggler(summary, 101), std::nullopt) << "5 us are less than 5 % of it";
  }
}

// The rank's median is over the calls in which it was last.
TEST(Straggler, IsLateAsAMedian) {
  const TraceSummary summary = Summarize(LateBy({{0, 3000}, {0, 5000}, {0, 90'000}, {100, 0}}));
  EXPECT_EQ(summary.last_by_rank, (std::vector<int>{1, 3}));
  EXPECT_DOUBLE_EQ(summary.last_by_us, 5);
  EXPECT_EQ(Straggler(summary, kP50Us), 1);
}

TEST(Straggler, IsNobodyWhoIsHardlyLate) {
  const auto late_by = [](std::uint64_t late_ns) {
    return Summarize(LateBy({{0, late_ns}, {0, late_ns}, {0, late_ns}, {20, 0}}));
  };
  // Less than a step, whatever the share of the p50.
  const TraceSummary below_step = late_by(31);
  EXPECT_EQ(below_step.last_rank, 1);
  EXPECT_EQ(below_step.last_calls, 3);
  EXPECT_EQ(Straggler(below_step, 0.1), std::nullopt);
  EXPECT_EQ(WhyNoStraggler(below_step, 0.1),
            "rank 1 was last in 75 % of the traced calls, but by 0.031 us only: the clock's step "
            "is 0.032 us");
  EXPECT_EQ(Straggler(late_by(33), 0.1), 1);
  // More than a step, and less than 5 % of the p50.
  const TraceSummary below_part = late_by(99);
  EXPECT_EQ(Straggler(below_part, kP50Us), std::nullopt);
  EXPECT_EQ(WhyNoStraggler(below_part, kP50Us),
            "rank 1 was last in 75 % of the traced calls, but by 0.099 us only: 5 % of p50 are "
            "0.100 us");
  EXPECT_EQ(Straggler(late_by(101), kP50Us), 1);
}

TEST(Straggler, IsNobodyUnlessLastInMostCalls) {
  const TraceSummary most = {.calls = 20, .last_rank = 3, .last_calls = 11, .last_by_us = 9};
  EXPECT_EQ(Straggler(most, kP50Us), 3);
  const TraceSummary half = {.calls = 20, .last_rank = 3, .last_calls = 10, .last_by_us = 9};
  const TraceSummary none = {.calls = 20, .last_rank = -1, .undecided_calls = 20};
  for (const TraceSummary& summary : {half, none}) {
    EXPECT_EQ(Straggler(summary, kP50Us), std::nullopt);
    EXPECT_EQ(WhyNoStraggler(summary, kP50Us),
              "no rank was last in more than half of the traced calls");
  }
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

// Each has seen the other's pack before its own.
TEST(Summarize, NobodyIsLateForItself) {
  const TraceSummary summary = Summarize(Trace({{{9, 0}, {9, 3}}, {{0, 0}, {0, 9}}}));
  EXPECT_EQ(summary.last_rank, -1);
  EXPECT_EQ(summary.undecided_calls, 2);
}

TEST(TimesRefusal, NamesTheLimit) {
  EXPECT_EQ(TimesRefusal(20, std::int64_t{256} << 20), "");
  EXPECT_EQ(TimesRefusal(20, (std::int64_t{256} << 20) + 1),
            "the times of 20 calls would take 257 MiB of a rank, more than 256");
}

TEST(ShownOf, KeepsATraceSmall) {
  struct Case {
    int ctas, ranks;
    int shown;
    bool sources;
  };
  for (const Case& c : {Case{3, 4, 3, true}, Case{512, 4, 16, true}, Case{512, 8, 8, true},
                        Case{512, 16, 1, true}, Case{512, 20, 1, true}, Case{512, 21, 6, false},
                        Case{512, 72, 1, false}, Case{512, 200, 1, false}}) {
    const Shown shown = ShownOf(c.ctas, c.ranks, 20);
    EXPECT_EQ(shown.ctas, c.shown) << c.ranks;
    EXPECT_EQ(shown.sources, c.sources) << c.ranks;
  }
}

}  // namespace
}  // namespace mailbench
