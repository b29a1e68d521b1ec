#include "harness/trace/point_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <utility>

#include "harness/measure/statistics.h"

namespace mailbench {
namespace {

constexpr int kMostEvents = 20'000;  // of a point
constexpr int kMostCtas = 16;

// The largest, where it stands alone; -1 where it does not, or where there is none above 0.
template <class Value>
int LargestAlone(const std::vector<Value>& values) {
  const auto largest = std::max_element(values.begin(), values.end());
  if (largest == values.end() || *largest == 0) return -1;
  if (std::count(values.begin(), values.end(), *largest) > 1) return -1;
  return static_cast<int>(largest - values.begin());
}

// Which rank was last in a call, as its receivers say; -1: undecided.
int LastIn(const PointTrace& trace, std::size_t call) {
  std::vector<int> named(trace.ranks.size());
  for (const RankTrace& rank : trace.ranks) {
    const int source = LargestAlone(rank.calls[call].whole.awaited_for);
    if (source >= 0) ++named[static_cast<std::size_t>(source)];
  }
  return LargestAlone(named);
}

void CountLast(const PointTrace& trace, TraceSummary& summary) {
  std::vector<int> last(trace.ranks.size());
  summary.calls = static_cast<int>(trace.ranks.front().calls.size());
  for (int call = 0; call < summary.calls; ++call) {
    if (const int rank = LastIn(trace, static_cast<std::size_t>(call)); rank >= 0) {
      ++last[static_cast<std::size_t>(rank)];
    } else {
      ++summary.undecided_calls;
    }
  }
  const auto most = std::max_element(last.begin(), last.end());
  if (*most > 0) summary.last_rank = static_cast<int>(most - last.begin());
  summary.last_calls = *most;
  summary.last_by_rank = std::move(last);
}

double Microseconds(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from)) * 1e-3;
}

std::string Text(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

int CtasShown(int ctas, int ranks, int calls) {
  // A call, publish, wait, collect, a first arrival, and an arrival a source.
  const std::int64_t events_a_cta = std::int64_t{ranks} * calls * (5 + ranks);
  const auto affordable = static_cast<int>(kMostEvents / std::max<std::int64_t>(events_a_cta, 1));
  return std::min(ctas, std::min(affordable, kMostCtas));
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

std::optional<int> Straggler(const TraceSummary& summary) {
  if (2 * summary.last_calls <= summary.calls) return std::nullopt;
  return summary.last_rank;
}

std::string ToString(const TraceSummary& summary) {
  const std::string calls = std::to_string(summary.calls) + " calls";
  std::string text = "no rank was waited for in " + calls;
  if (summary.last_rank >= 0) {
    text = "rank " + std::to_string(summary.last_rank) + " was last in " +
           Text("%.0f", 100.0 * summary.last_calls / summary.calls) + " % of " + calls;
    if (summary.undecided_calls > 0) {
      text += ", none in " + Text("%.0f", 100.0 * summary.undecided_calls / summary.calls) + " %";
    }
  }
  return text + "; publish " + Text("%.2f", summary.publish_us) + " us, wait " +
         Text("%.2f", summary.wait_us) + " us, collect " + Text("%.2f", summary.collect_us) +
         " us (medians); clocks within " + Text("%.3f", summary.clock_error_us) + " us of rank 0's";
}

}  // namespace mailbench
