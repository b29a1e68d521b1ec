#include "harness/trace/point_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

#include "harness/measure/statistics.h"

namespace mailbench {
namespace {

constexpr int kMostCtas = 16;

// The largest, where it stands alone; -1 where it does not, or where there is none above 0.
template <class Value>
int LargestAlone(const std::vector<Value>& values) {
  const auto largest = std::max_element(values.begin(), values.end());
  if (largest == values.end() || *largest == 0) return -1;
  if (std::count(values.begin(), values.end(), *largest) > 1) return -1;
  return static_cast<int>(largest - values.begin());
}

double Microseconds(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from)) * 1e-3;
}

// The other rank for which a rank waited longest in a call; -1: none, or two at once, or itself.
int NamedBy(const PointTrace& trace, std::size_t call, std::size_t receiver) {
  const int source = LargestAlone(trace.ranks[receiver].calls[call].whole.awaited_for);
  return source == static_cast<int>(receiver) ? -1 : source;
}

// Which rank was last in a call, as its receivers say; -1: undecided.
int LastIn(const PointTrace& trace, std::size_t call) {
  std::vector<int> named(trace.ranks.size());
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const int source = NamedBy(trace, call, rank);
    if (source >= 0) ++named[static_cast<std::size_t>(source)];
  }
  return LargestAlone(named);
}

// By how much the rank that was last in a call was late, in TraceSummary's words.
double LatenessIn(const PointTrace& trace, std::size_t call, int last) {
  const auto source = static_cast<std::size_t>(last);
  std::vector<double> waits_us;
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    if (NamedBy(trace, call, rank) != last) continue;
    const TraceTimes& times = trace.ranks[rank].calls[call].whole;
    waits_us.push_back(Microseconds(times.published, times.awaited_for[source]));
  }
  const TraceTimes& own = trace.ranks[source].calls[call].whole;
  return Summarize(waits_us).p50 - Microseconds(own.published, own.last_arrival());
}

void CountLast(const PointTrace& trace, TraceSummary& summary) {
  std::vector<std::vector<double>> late_us(trace.ranks.size());  // of each rank, when it was last
  summary.calls = static_cast<int>(trace.ranks.front().calls.size());
  for (std::size_t call = 0; call < trace.ranks.front().calls.size(); ++call) {
    const int rank = LastIn(trace, call);
    if (rank < 0) {
      ++summary.undecided_calls;
    } else {
      late_us[static_cast<std::size_t>(rank)].push_back(LatenessIn(trace, call, rank));
    }
  }
  for (std::size_t rank = 0; rank < late_us.size(); ++rank) {
    const auto calls = static_cast<int>(late_us[rank].size());
    summary.last_by_rank.push_back(calls);
    if (calls <= summary.last_calls) continue;
    summary.last_rank = static_cast<int>(rank);
    summary.last_calls = calls;
    summary.last_by_us = Summarize(late_us[rank]).p50;
  }
}

std::string Text(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string Percent(int calls, const TraceSummary& summary) {
  return Text("%.0f", 100.0 * calls / summary.calls) + " %";
}

}  // namespace

Shown ShownOf(int ctas, int ranks, int calls) {
  // A call, publish, wait, collect, a first arrival, and the last arrivals.
  const auto events_of_tracks = [&](int arrivals) {
    return std::int64_t{ranks} * calls * (5 + arrivals);
  };
  // The whole call has a track, too, and a CTA at least.
  const bool sources = 2 * events_of_tracks(ranks) <= kMostEventsOfAPoint;
  const std::int64_t tracks = kMostEventsOfAPoint / events_of_tracks(sources ? ranks : 1);
  const auto affordable = static_cast<int>(std::clamp<std::int64_t>(tracks - 1, 1, kMostCtas));
  return {std::min(ctas, affordable), sources};
}

TraceSummary Summarize(const PointTrace& trace) {
  TraceSummary summary;
  CountLast(trace, summary);
  std::vector<double> publish;
  std::vector<double> wait;
  std::vector<double> collect;
  std::int64_t error_ns = 0;
  for (const RankTrace& rank : trace.ranks) {
    error_ns = std::max(error_ns, rank.offset.error_ns);
    for (const CallTrace& call : rank.calls) {
      const TraceTimes& times = call.whole;
      publish.push_back(Microseconds(times.start, times.published));
      wait.push_back(Microseconds(times.published, times.last_arrival()));
      collect.push_back(Microseconds(times.last_arrival(), times.done));
    }
  }
  summary.publish_us = Summarize(publish).p50;
  summary.wait_us = Summarize(wait).p50;
  summary.collect_us = Summarize(collect).p50;
  summary.clock_error_us = static_cast<double>(error_ns) * 1e-3;
  summary.clock_step_us = static_cast<double>(trace.step_ns) * 1e-3;
  return summary;
}

std::optional<int> Straggler(const TraceSummary& summary, double p50_us) {
  if (2 * summary.last_calls <= summary.calls) return std::nullopt;
  const double limit_us = std::max(summary.clock_step_us, kLeastLatenessOfP50 * p50_us);
  if (summary.last_by_us <= limit_us) return std::nullopt;
  return summary.last_rank;
}

std::string WhyNoStraggler(const TraceSummary& summary, double p50_us) {
  if (2 * summary.last_calls <= summary.calls) {
    return "no rank was last in more than half of the traced calls";
  }
  const double part_us = kLeastLatenessOfP50 * p50_us;
  const std::string limit =
      summary.clock_step_us >= part_us
          ? "the clock's step is " + Text("%.3f", summary.clock_step_us)
          : Text("%.0f", 100 * kLeastLatenessOfP50) + " % of p50 are " + Text("%.3f", part_us);
  return "rank " + std::to_string(summary.last_rank) + " was last in " +
         Percent(summary.last_calls, summary) + " of the traced calls, but by " +
         Text("%.3f", summary.last_by_us) + " us only: " + limit + " us";
}

std::string ToString(const TraceSummary& summary) {
  const std::string calls = std::to_string(summary.calls) + " calls";
  std::string text = "no rank was waited for in " + calls;
  if (summary.last_rank >= 0) {
    text = "rank " + std::to_string(summary.last_rank) + " was last in " +
           Percent(summary.last_calls, summary) + " of " + calls + " by " +
           Text("%.2f", summary.last_by_us) + " us";
    if (summary.undecided_calls > 0) {
      text += ", none in " + Percent(summary.undecided_calls, summary);
    }
  }
  return text + "; publish " + Text("%.2f", summary.publish_us) + " us, wait " +
         Text("%.2f", summary.wait_us) + " us, collect " + Text("%.2f", summary.collect_us) +
         " us (medians); clocks within " + Text("%.3f", summary.clock_error_us) + " us of rank 0's";
}

}  // namespace mailbench
