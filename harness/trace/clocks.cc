#include "harness/trace/clocks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "harness/watchdog/heartbeat.h"

namespace mailbench {
namespace {

constexpr int kMeetings = 200;
constexpr int kSteps = 100;

// values[size()][count], by rank.
std::vector<std::int64_t> GatherNumbers(const Ranks& ranks, std::span<const std::int64_t> own) {
  std::vector<std::uint32_t> words;
  for (const std::int64_t value : own) {
    words.push_back(static_cast<std::uint32_t>(value));
    words.push_back(static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32));
  }
  std::vector<std::uint32_t> all(words.size() * static_cast<std::size_t>(ranks.size()));
  ranks.GatherWords(words, all);
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    values.push_back(static_cast<std::int64_t>(all[i] | std::uint64_t{all[i + 1]} << 32));
  }
  return values;
}

// Collective. From this host's CLOCK_MONOTONIC to that of rank 0's host.
ClockOffset ToFirstHost(const Ranks& ranks) {
  if (ranks.one_host()) return {};
  std::vector<ClockMeeting> meetings(kMeetings);
  for (ClockMeeting& meeting : meetings) {
    meeting.own_before = MonotonicNow();
    meeting.other_before = GatherNumbers(ranks, std::array{meeting.own_before}).front();
    meeting.own_after = MonotonicNow();
  }
  for (ClockMeeting& meeting : meetings) {
    meeting.other_after = GatherNumbers(ranks, std::array{meeting.own_after}).front();
  }
  if (ranks.hosts()[static_cast<std::size_t>(ranks.rank())] == ranks.hosts().front()) return {};
  return OffsetOf(meetings);
}

std::int64_t SmallestStep() {
  std::int64_t smallest = INT64_MAX;
  std::int64_t last = MonotonicNow();
  for (int steps = 0; steps < kSteps;) {
    const std::int64_t now = MonotonicNow();
    if (now == last) continue;
    smallest = std::min(smallest, now - last);
    last = now;
    ++steps;
  }
  return smallest;
}

}  // namespace

ClockOffset Chain(const ClockOffset& first, const ClockOffset& then) {
  return {first.add_ns + then.add_ns, first.error_ns + then.error_ns};
}

ClockOffset Reverse(const ClockOffset& offset) { return {-offset.add_ns, offset.error_ns}; }

ClockOffset Between(const ClockOffset& before, const ClockOffset& after) {
  const std::int64_t low = std::min(before.add_ns - before.error_ns, after.add_ns - after.error_ns);
  const std::int64_t width =
      std::max(before.add_ns + before.error_ns, after.add_ns + after.error_ns) - low;
  return {low + width / 2, (width + 1) / 2};
}

void OffsetBounds::Before(std::int64_t cause, std::int64_t effect) {
  high_ = std::min(high_, effect - cause);
}

void OffsetBounds::After(std::int64_t cause, std::int64_t effect) {
  low_ = std::max(low_, cause - effect);
}

ClockOffset OffsetBounds::Offset() const {
  // Clocks that do not run alike can make the bounds cross: the gap is an error, too.
  const std::int64_t width = high_ - low_;
  return {low_ + width / 2, (std::abs(width) + 1) / 2};
}

ClockOffset OffsetByAsking(const std::function<std::int64_t()>& ask,
                           const std::function<std::int64_t()>& now, std::int64_t step_ns,
                           int questions) {
  OffsetBounds bounds;
  for (int question = 0; question < questions; ++question) {
    const std::int64_t before = now();
    const std::int64_t time = ask();
    const std::int64_t after = now();
    bounds.Before(time, after);
    bounds.After(before, time + step_ns);  // what it showed was up to a step old
  }
  return bounds.Offset();
}

HostMarkClock::HostMarkClock(const Ranks& ranks)
    : name_("CLOCK_MONOTONIC of " + ranks.hosts()[static_cast<std::size_t>(ranks.rank())]),
      step_ns_(SmallestStep()) {}

ClockOffset OffsetOf(std::span<const ClockMeeting> meetings) {
  OffsetBounds bounds;
  for (const ClockMeeting& meeting : meetings) {
    bounds.Before(meeting.own_before, meeting.other_after);
    bounds.After(meeting.other_before, meeting.own_after);
  }
  return bounds.Offset();
}

std::vector<ClockOffset> AlignClocks(MarkClock& clock, const Ranks& ranks) {
  const std::vector<std::string> names = ranks.Gather(clock.name());
  const bool one = std::all_of(names.begin(), names.end(),
                               [&](const std::string& name) { return name == names.front(); });
  const ClockOffset own = one ? ClockOffset{} : Chain(clock.ToHost(), ToFirstHost(ranks));
  const std::vector<std::int64_t> all =
      GatherNumbers(ranks, std::array{own.add_ns, own.error_ns, clock.step_ns()});
  const ClockOffset from_first = Reverse({all[0], all[1]});
  std::vector<ClockOffset> offsets;
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    const std::int64_t* const its = &all[3 * rank];
    ClockOffset offset;
    if (names[rank] != names.front()) offset = Chain({its[0], its[1]}, from_first);
    offset.error_ns += its[2];
    offsets.push_back(offset);
  }
  return offsets;
}

std::vector<ClockOffset> AlignClocksAround(MarkClock& clock, const Ranks& ranks,
                                           const std::function<void()>& calls) {
  std::vector<ClockOffset> offsets = AlignClocks(clock, ranks);
  calls();
  const std::vector<ClockOffset> after = AlignClocks(clock, ranks);
  for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
    offsets[rank] = Between(offsets[rank], after[rank]);
  }
  return offsets;
}

}  // namespace mailbench
