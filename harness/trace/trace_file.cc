#include "harness/trace/trace_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "harness/error.h"
#include "harness/report/file.h"
#include "harness/report/json_values.h"
#include "harness/report/prepare.h"

namespace mailbench {
namespace {

constexpr double kBetweenPointsUs = 10;

std::string Line(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

// Where a rank's times are on the file's axis.
struct Axis {
  std::int64_t base_ns;  // rank 0's time at `base_us`
  double base_us;
  ClockOffset offset;

  double At(std::uint64_t time) const {
    const std::int64_t since = static_cast<std::int64_t>(time) + offset.add_ns - base_ns;
    return base_us + static_cast<double>(since) * 1e-3;
  }
};

// The events of one thread of a process.
class Track {
 public:
  // `sources`: as Shown::sources.
  Track(const PointKey& key, int rank, const Axis& axis, bool sources)
      : key_(key), rank_(rank), axis_(axis), sources_(sources) {}

  // Everything of a call, in the order of time, the enclosing span first.
  template <class Emit>
  void Call(int thread, int call, const TraceTimes& times, const Emit& emit) const {
    const Json args = {{"point", ToString(key_)}, {"call", call}};
    const std::uint64_t last = times.last_arrival();
    emit(Span(thread, "call " + std::to_string(call), times.start, times.done, args));
    emit(Span(thread, "publish", times.start, times.published, args));
    emit(Span(thread, "wait", times.published, last, args));
    emit(Span(thread, "collect", last, times.done, args));
    emit(Instant(thread, "first arrival", times.first_arrival, args));
    for (std::size_t source = 0; source < times.arrived.size(); ++source) {
      if (!sources_ && source != LastSource(times)) continue;
      Json of_source = args;
      of_source["source"] = source;
      of_source["waited_for"] = times.awaited_for[source] != 0;
      emit(Instant(thread, "last of rank " + std::to_string(source), times.arrived[source],
                   of_source));
    }
  }

 private:
  static std::size_t LastSource(const TraceTimes& times) {
    const auto last = std::max_element(times.arrived.begin(), times.arrived.end());
    return static_cast<std::size_t>(last - times.arrived.begin());
  }
  Json Event(const char* phase, int thread, const std::string& name, std::uint64_t at,
             const Json& args) const {
    return {{"ph", phase},   {"name", name},       {"cat", key_.algorithm}, {"pid", rank_},
            {"tid", thread}, {"ts", axis_.At(at)}, {"args", args}};
  }
  Json Span(int thread, const std::string& name, std::uint64_t from, std::uint64_t to,
            const Json& args) const {
    Json event = Event("X", thread, name, from, args);
    event["dur"] = static_cast<double>(to - from) * 1e-3;
    return event;
  }
  Json Instant(int thread, const std::string& name, std::uint64_t at, const Json& args) const {
    Json event = Event("i", thread, name, at, args);
    event["s"] = "t";
    return event;
  }

  const PointKey& key_;
  int rank_;
  Axis axis_;
  bool sources_;
};

Shown ShownIn(const PointTrace& trace) {
  const std::vector<CallTrace>& calls = trace.ranks.front().calls;
  return ShownOf(trace.ctas, static_cast<int>(trace.ranks.size()), static_cast<int>(calls.size()));
}

Json Describe(const PointKey& key, const PointTrace& trace, double starts_us) {
  Json clocks = Json::array();
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const RankTrace& its = trace.ranks[rank];
    clocks.push_back({{"rank", rank},
                      {"clock", its.clock},
                      {"offset_ns", its.offset.add_ns},
                      {"error_ns", its.offset.error_ns}});
  }
  return {{"point", ToString(key)},
          {"starts_us", starts_us},
          {"ctas", trace.ctas},
          {"ctas_shown", trace.ranks.front().calls.front().ctas.size()},
          {"arrivals_shown",
           ShownIn(trace).sources ? "first, and last of each rank" : "first and last"},
          {"clock_step_ns", trace.step_ns},
          {"clocks", std::move(clocks)}};
}

}  // namespace

void RequireTraceable(const std::string& path, bool force) {
  if (IsReplaceable(path, "trace") && !force) {
    throw UsageError("trace " + path + " exists; replace it with --force, or give another name");
  }
}

TraceFile::TraceFile(std::string tool, std::string collective)
    : head_(Line({{"tool", std::move(tool)},
                  {"collective", std::move(collective)},
                  {"most_events_of_a_point", kMostEventsOfAPoint},
                  {"time",
                   "microseconds on rank 0's clock within a point; points stand one after the "
                   "other, 10 us apart"}})) {}

void TraceFile::Emit(const std::string& event) {
  if (!events_.empty()) events_ += ",\n";
  events_ += event;
}

void TraceFile::NameThread(int rank, int thread, const std::string& name) {
  Emit(Line({{"ph", "M"},
             {"name", "thread_name"},
             {"pid", rank},
             {"tid", thread},
             {"args", {{"name", name}}}}));
}

void TraceFile::NameProcesses(const PointTrace& trace) {
  const auto ranks = static_cast<int>(trace.ranks.size());
  for (; named_ranks_ < ranks; ++named_ranks_) {
    const std::string name = "rank " + std::to_string(named_ranks_);
    Emit(Line({{"ph", "M"},
               {"name", "process_name"},
               {"pid", named_ranks_},
               {"args", {{"name", name}}}}));
    NameThread(named_ranks_, 0, "whole call");
  }
  const auto ctas = static_cast<int>(trace.ranks.front().calls.front().ctas.size());
  for (; named_ctas_ < ctas; ++named_ctas_) {
    for (int rank = 0; rank < ranks; ++rank) {
      NameThread(rank, named_ctas_ + 1, "CTA " + std::to_string(named_ctas_));
    }
  }
}

void TraceFile::Add(const PointKey& key, const PointTrace& trace) {
  NameProcesses(trace);
  std::int64_t base_ns = INT64_MAX;
  for (const RankTrace& rank : trace.ranks) {
    for (const CallTrace& call : rank.calls) {
      base_ns = std::min(base_ns, static_cast<std::int64_t>(call.whole.start) + rank.offset.add_ns);
    }
  }
  const double base_us = points_.empty() ? 0 : end_us_ + kBetweenPointsUs;
  const auto emit = [&](const Json& event) {
    end_us_ = std::max(end_us_, event["ts"].get<double>() + event.value("dur", 0.0));
    Emit(Line(event));
  };
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    const RankTrace& its = trace.ranks[rank];
    const Track track(key, static_cast<int>(rank), {base_ns, base_us, its.offset},
                      ShownIn(trace).sources);
    for (std::size_t call = 0; call < its.calls.size(); ++call) {
      const auto number = static_cast<int>(call);
      track.Call(0, number, its.calls[call].whole, emit);
      for (std::size_t cta = 0; cta < its.calls[call].ctas.size(); ++cta) {
        track.Call(static_cast<int>(cta) + 1, number, its.calls[call].ctas[cta], emit);
      }
    }
  }
  if (!points_.empty()) points_ += ",\n";
  points_ += Line(Describe(key, trace, base_us));
}

std::string TraceFile::Text() const {
  const std::string other = head_.substr(0, head_.size() - 1) + ",\"points\":[\n" + points_ + "]}";
  return "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + other + ",\n\"traceEvents\":[\n" +
         events_ + "]}\n";
}

void TraceFile::Write(const std::string& path) const {
  RemoveStaleReplacements(path);
  ReplacementFile file(path);
  file.Write(Text());
  file.Commit();
}

}  // namespace mailbench
