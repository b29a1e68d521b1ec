#include "kernels/machine/trace.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace mailbench {
namespace {

// Of what is there.
std::uint64_t Earlier(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

}  // namespace

std::uint64_t TraceTimes::last_arrival() const {
  return arrived.empty() ? 0 : *std::max_element(arrived.begin(), arrived.end());
}

void TraceTimes::Add(const TraceTimes& other) {
  start = Earlier(start, other.start);
  published = std::max(published, other.published);
  first_arrival = Earlier(first_arrival, other.first_arrival);
  done = std::max(done, other.done);
  arrived.resize(std::max(arrived.size(), other.arrived.size()));
  awaited_for.resize(arrived.size());
  for (std::size_t i = 0; i < other.arrived.size(); ++i) {
    arrived[i] = std::max(arrived[i], other.arrived[i]);
    awaited_for[i] = std::max(awaited_for[i], other.awaited_for[i]);
  }
}

std::vector<TraceTimes> ReadTrace(const std::uint64_t* times, int sources, int ctas,
                                  int cta_threads) {
  const TraceView view{const_cast<std::uint64_t*>(times), std::int64_t{ctas} * cta_threads};
  std::vector<TraceTimes> by_cta(static_cast<std::size_t>(ctas));
  for (std::int64_t thread = 0; thread < view.threads; ++thread) {
    TraceTimes one;
    one.start = *view.At(TraceEvent::kStart, thread);
    one.published = *view.At(TraceEvent::kPublished, thread);
    one.done = *view.At(TraceEvent::kDone, thread);
    for (int source = 0; source < sources; ++source) {
      const std::uint64_t marked = *view.ArrivalOf(source, thread);
      const std::uint64_t time = marked & ~TraceView::kAwaited;
      one.arrived.push_back(time);
      one.awaited_for.push_back(marked != time ? time : 0);
      one.first_arrival = Earlier(one.first_arrival, time);
    }
    by_cta[static_cast<std::size_t>(thread / cta_threads)].Add(one);
  }
  for (const TraceTimes& cta : by_cta) {
    const bool all_arrived = std::all_of(cta.arrived.begin(), cta.arrived.end(),
                                         [](std::uint64_t time) { return time != 0; });
    if (cta.start == 0 || cta.published == 0 || cta.done == 0 || !all_arrived) {
      throw std::invalid_argument("CTA " + std::to_string(&cta - by_cta.data()) +
                                  " of a traced call has not marked everything");
    }
  }
  return by_cta;
}

}  // namespace mailbench
