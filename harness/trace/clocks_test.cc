#include "harness/trace/clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "harness/ranks/thread_ranks.h"

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

TEST(Between, SpansBothWithTheirErrors) {
  const ClockOffset spans = Between({100, 3}, {160, 8});
  EXPECT_EQ(spans.add_ns, 132);  // from 97 to 168
  EXPECT_EQ(spans.error_ns, 36);
  EXPECT_EQ(Between({160, 8}, {100, 3}).add_ns, spans.add_ns);
  EXPECT_EQ(Between({-7, 5}, {-7, 5}).add_ns, -7);
  EXPECT_EQ(Between({-7, 5}, {-7, 5}).error_ns, 5);
  EXPECT_EQ(Between({10, 50}, {20, 3}).error_ns, 50) << "the second lies within the first";
}

// A clock that runs fast or slow beside that of the host, whose time the test decides.
class DriftingClock : public MarkClock {
 public:
  static constexpr std::int64_t kErrorNs = 40;
  static constexpr std::int64_t kStepNs = 32;

  DriftingClock(std::string name, std::int64_t ahead_ns, std::int64_t fast_ppm,
                const std::atomic<std::int64_t>& host_ns)
      : name_(std::move(name)), ahead_ns_(ahead_ns), fast_ppm_(fast_ppm), host_ns_(host_ns) {}
  std::string name() const override { return name_; }
  std::int64_t step_ns() const override { return kStepNs; }
  ClockOffset ToHost() override { return {host_ns_ - At(host_ns_), kErrorNs}; }

  std::int64_t At(std::int64_t host_ns) const {
    return host_ns + ahead_ns_ + host_ns / 1'000'000 * fast_ppm_;
  }

 private:
  std::string name_;
  std::int64_t ahead_ns_;
  std::int64_t fast_ppm_;
  const std::atomic<std::int64_t>& host_ns_;
};

TEST(AlignClocksAround, TheErrorHoldsWhatDriftsBetweenTheAlignments) {
  constexpr int kRanks = 4;
  constexpr std::int64_t kBeginNs = 5'000'000'000;
  constexpr std::int64_t kLastsNs = 1'000'000'000;
  std::atomic<std::int64_t> host_ns{kBeginNs};
  // The last one is rank 0's own.
  std::vector<DriftingClock> clocks = {{"a", 0, 20, host_ns},
                                       {"b", 7'000'000'000, 60, host_ns},
                                       {"c", -9'000'000'000, -30, host_ns},
                                       {"a", 0, 20, host_ns}};
  const std::vector<std::int64_t> drift_ns = {0, 40'000, 50'000, 0};  // in kLastsNs
  ThreadMeeting meeting(kRanks);
  std::vector<std::vector<ClockOffset>> seen(kRanks);
  RunThreadRanks(kRanks, meeting, [&](ThreadRanks& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    seen[rank] = AlignClocksAround(clocks[rank], ranks, [&] {
      ranks.Barrier();
      if (rank == 0) host_ns += kLastsNs;
      ranks.Barrier();
    });
  });
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(seen[rank].size(), static_cast<std::size_t>(kRanks));
    const ClockOffset offset = seen.front()[rank];
    EXPECT_EQ(seen[rank][rank].add_ns, offset.add_ns) << "all ranks know the same";
    EXPECT_EQ(seen[rank][rank].error_ns, offset.error_ns);
    for (std::int64_t at = kBeginNs; at <= kBeginNs + kLastsNs; at += kLastsNs / 10) {
      const std::int64_t right = clocks.front().At(at) - clocks[rank].At(at);
      EXPECT_LE(std::abs(offset.add_ns - right), offset.error_ns) << rank << " at " << at;
    }
    // No more than that: half the drift, what either alignment did not know, and a step.
    const bool own = drift_ns[rank] == 0;
    const std::int64_t unknown = own ? 0 : 2 * DriftingClock::kErrorNs;
    EXPECT_EQ(offset.error_ns, drift_ns[rank] / 2 + unknown + DriftingClock::kStepNs) << rank;
  }
}

}  // namespace
}  // namespace mailbench
