#include "kernels/machine/trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

namespace mailbench {
namespace {

constexpr std::uint64_t kAwaited = TraceView::kAwaited;

TEST(TraceLooks, ASourceIsNewOnceABatch) {
  TraceLooks looks;
  EXPECT_EQ(looks.New(0, 0b0101), 0b0101u);
  EXPECT_FALSE(looks.again());
  EXPECT_EQ(looks.New(0, 0b1101), 0b1000u);
  EXPECT_TRUE(looks.again());
  EXPECT_EQ(looks.New(8, 0b0101), 0b0101u) << "another batch has other sources";
  EXPECT_FALSE(looks.again());
}

TEST(MarkLook, OneTimeForAllOfALookAndAFlagForThoseThatWereAwaited) {
  TraceLooks looks;
  std::uint64_t now = 100;
  int readings = 0;
  std::map<int, std::uint64_t> times;
  const auto look = [&](int first, std::uint32_t present) {
    MarkLook(
        looks, first, present,
        [&] {
          ++readings;
          return now++;
        },
        [&](int source, std::uint64_t time) { times[source] = time; });
  };
  look(8, 0b00);
  EXPECT_EQ(readings, 0) << "nothing was new";
  look(8, 0b11);
  look(8, 0b11);
  EXPECT_EQ(readings, 1);
  look(16, 0b01);
  EXPECT_EQ(times,
            (std::map<int, std::uint64_t>{{8, 100 | kAwaited}, {9, 100 | kAwaited}, {16, 101}}));
}

// Two CTAs of two threads, two sources; the last thread has no pack.
std::vector<std::uint64_t> Times() {
  return {
      10,
      11,
      20,
      21,  // start
      15,
      14,
      26,
      0,  // published
      40,
      42,
      50,
      0,  // done
      17,
      16,
      27,
      0,  // source 0
      30 | kAwaited,
      29,
      28,
      0,  // source 1
  };
}

TEST(ReadTrace, TakesTheThreadsOfACtaTogether) {
  const std::vector<TraceTimes> ctas = ReadTrace(Times().data(), 2, 2, 2);
  ASSERT_EQ(ctas.size(), 2u);
  EXPECT_EQ(ctas[0].start, 10u);
  EXPECT_EQ(ctas[0].published, 15u);
  EXPECT_EQ(ctas[0].first_arrival, 16u);
  EXPECT_EQ(ctas[0].arrived, (std::vector<std::uint64_t>{17, 30}));
  EXPECT_EQ(ctas[0].awaited_for, (std::vector<std::uint64_t>{0, 30}));
  EXPECT_EQ(ctas[0].last_arrival(), 30u);
  EXPECT_EQ(ctas[0].done, 42u);
  EXPECT_EQ(ctas[1].start, 20u);
  EXPECT_EQ(ctas[1].published, 26u);
  EXPECT_EQ(ctas[1].awaited_for, (std::vector<std::uint64_t>{0, 0}));
}

TEST(ReadTrace, CtasTogetherAreTheCall) {
  const std::vector<TraceTimes> ctas = ReadTrace(Times().data(), 2, 2, 2);
  TraceTimes call;
  for (const TraceTimes& cta : ctas) call.Add(cta);
  EXPECT_EQ(call.start, 10u);
  EXPECT_EQ(call.published, 26u);
  EXPECT_EQ(call.first_arrival, 16u);
  EXPECT_EQ(call.arrived, (std::vector<std::uint64_t>{27, 30}));
  EXPECT_EQ(call.awaited_for, (std::vector<std::uint64_t>{0, 30}));
  EXPECT_EQ(call.done, 50u);
}

TEST(ReadTrace, RefusesACallThatHasNotEnded) {
  for (const std::size_t missing : {8u, 12u}) {  // done, source 0: of CTA 0
    std::vector<std::uint64_t> times = Times();
    times[missing] = times[missing + 1] = 0;
    EXPECT_THROW(ReadTrace(times.data(), 2, 2, 2), std::invalid_argument) << missing;
  }
}

}  // namespace
}  // namespace mailbench
