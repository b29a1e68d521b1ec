// Clocks of different ranks, brought to one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/ranks/ranks.h"

namespace mailbench {

// What to add to a clock's time to get another clock's, and how far off that can be; nanoseconds.
struct ClockOffset {
  std::int64_t add_ns = 0;
  std::int64_t error_ns = 0;
};
// From the first clock's time to the last one's; errors add up.
ClockOffset Chain(const ClockOffset& first, const ClockOffset& then);
ClockOffset Reverse(const ClockOffset& offset);
// One offset for the whole time between two at which it was `before` and `after`, when the clocks
// drift one way only: the middle of both with their errors, and half of what they span.
ClockOffset Between(const ClockOffset& before, const ClockOffset& after);

// The offset as observations of cause and effect bound it. Each observation holds for certain, so
// that the tightest of either side count, and need not be of one observation.
class OffsetBounds {
 public:
  // `cause`, by the clock in question, came before `effect`, by the other one.
  void Before(std::int64_t cause, std::int64_t effect);
  // `cause`, by the other clock, came before `effect`, by the clock in question.
  void After(std::int64_t cause, std::int64_t effect);
  // The middle, and half of what is left. REQUIRES: one observation of each kind.
  ClockOffset Offset() const;

 private:
  std::int64_t low_ = INT64_MIN;
  std::int64_t high_ = INT64_MAX;
};

// From a clock that shows each time for `step_ns` to the one that `now` tells. `ask` gets the
// first clock's time, which it was at some moment of the call. REQUIRES: questions > 0.
ClockOffset OffsetByAsking(const std::function<std::int64_t()>& ask,
                           const std::function<std::int64_t()>& now, std::int64_t step_ns,
                           int questions);

// The clock of a rank's marks.
class MarkClock {
 public:
  virtual ~MarkClock() = default;
  // Names the clock: ranks with the same text share it.
  virtual std::string name() const = 0;
  // Its smallest step that was seen.
  virtual std::int64_t step_ns() const = 0;
  // To CLOCK_MONOTONIC of this host, measured now.
  virtual ClockOffset ToHost() = 0;
};

// CLOCK_MONOTONIC itself.
class HostMarkClock : public MarkClock {
 public:
  explicit HostMarkClock(const Ranks& ranks);
  std::string name() const override { return name_; }
  std::int64_t step_ns() const override { return step_ns_; }
  ClockOffset ToHost() override { return {}; }

 private:
  std::string name_;
  std::int64_t step_ns_;
};

// One exchange between two ranks in which each sends and each receives: the times before and after.
struct ClockMeeting {
  std::int64_t own_before = 0;
  std::int64_t own_after = 0;
  std::int64_t other_before = 0;
  std::int64_t other_after = 0;
};
// From the own clock to the other. REQUIRES: `meetings` is not empty.
ClockOffset OffsetOf(std::span<const ClockMeeting> meetings);

// Collective. What each rank's clock needs to become rank 0's, by rank, on every rank. A clock that
// is rank 0's own needs nothing; its error is its step. Others go over the clocks of their hosts,
// which meet through `ranks`.
std::vector<ClockOffset> AlignClocks(MarkClock& clock, const Ranks& ranks);

// Collective. As AlignClocks, for the times in which `calls` are made, here and now: clocks may
// drift meanwhile, one way, and the errors hold that too. They are aligned before and after.
std::vector<ClockOffset> AlignClocksAround(MarkClock& clock, const Ranks& ranks,
                                           const std::function<void()>& calls);

}  // namespace mailbench
