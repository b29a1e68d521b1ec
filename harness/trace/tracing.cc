#include "harness/trace/tracing.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/build_facts.h"
#include "harness/measure/l2.h"
#include "harness/trace/call_tracer.h"
#include "harness/trace/point_trace.h"
#include "harness/validate/over_ranks.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

constexpr int kCalls = 20;  // traced of a point
// The first round only warms up: kernels are loaded at their first launch.
constexpr int kRounds = 2;
constexpr std::int64_t kOutputBudgetBytes = std::int64_t{64} << 20;

// The calls of one point, traced.
class TracedCalls {
 public:
  TracedCalls(const Shape& shape, Instance& instance, const MeasureContext& context)
      : instance_(instance), context_(context) {
    const std::int64_t affordable =
        kOutputBudgetBytes / std::max<std::int64_t>(shape.bytes_total, 1);
    slots_ = static_cast<int>(std::clamp<std::int64_t>(affordable, 1, kCalls));
    instance.Bind(std::vector<Shape>(static_cast<std::size_t>(slots_), shape));
    TracerOrRefusal made = instance.MakeTracer(kCalls);
    tracer_ = std::move(made.tracer);
    refusal_ = std::move(made.refusal);
  }

  CallTracer* tracer() const { return tracer_.get(); }  // null: refused
  const std::string& refusal() const { return refusal_; }

  void Run(Mode mode, CallCounter& calls) {
    for (int slot = 0; slot < slots_; ++slot) instance_.Fill(slot, calls.Next());
    std::unique_ptr<Graph> graph;
    if (mode == Mode::kGraph) {
      graph = context_.executor.Record([&] {
        for (int call = 0; call < kCalls; ++call) Enqueue(call);
      });
    }
    for (int round = 0; round < kRounds; ++round) {
      if (graph != nullptr) {
        RunTogether(kCalls, [&] { graph->Replay(); });
        continue;
      }
      for (int call = 0; call < kCalls; ++call) RunTogether(1, [&] { Enqueue(call); });
    }
  }

  CheckResult Check() {
    CheckResult result;
    for (int slot = 0; slot < slots_; ++slot) result.Add(instance_.Check(slot));
    result.Add(AuditTogether(instance_, context_.ranks));
    return result;
  }

 private:
  void Enqueue(int call) { tracer_->Enqueue(call % slots_, call); }
  void RunTogether(int calls, const std::function<void()>& enqueue) {
    context_.ranks.Barrier();
    context_.executor.Time(calls, enqueue);
  }

  Instance& instance_;
  const MeasureContext& context_;
  int slots_ = 1;
  std::unique_ptr<CallTracer> tracer_;
  std::string refusal_;
};

// As words, for the ranks' exchange, and back.
class Words {
 public:
  void Put(std::uint64_t value) {
    words_.push_back(static_cast<std::uint32_t>(value));
    words_.push_back(static_cast<std::uint32_t>(value >> 32));
  }
  void Put(const TraceTimes& times) {
    for (const std::uint64_t value :
         {times.start, times.published, times.first_arrival, times.done}) {
      Put(value);
    }
    for (const std::uint64_t value : times.arrived) Put(value);
    for (const std::uint64_t value : times.awaited_for) Put(value);
  }
  const std::vector<std::uint32_t>& words() const { return words_; }

 private:
  std::vector<std::uint32_t> words_;
};

class WordReader {
 public:
  explicit WordReader(std::span<const std::uint32_t> words) : words_(words) {}
  std::uint64_t Value() {
    const std::uint64_t value = words_[at_] | std::uint64_t{words_[at_ + 1]} << 32;
    at_ += 2;
    return value;
  }
  TraceTimes Times(int sources) {
    TraceTimes times;
    times.start = Value();
    times.published = Value();
    times.first_arrival = Value();
    times.done = Value();
    for (int i = 0; i < sources; ++i) times.arrived.push_back(Value());
    for (int i = 0; i < sources; ++i) times.awaited_for.push_back(Value());
    return times;
  }

 private:
  std::span<const std::uint32_t> words_;
  std::size_t at_ = 0;
};

// Collective. `offsets`: of the ranks' clocks while the calls ran.
PointTrace Collect(CallTracer& tracer, const std::vector<ClockOffset>& offsets,
                   const Ranks& ranks) {
  PointTrace trace;
  Words own;
  int shown = 0;
  for (int call = 0; call < kCalls; ++call) {
    const std::vector<TraceTimes> ctas = tracer.Times(call);
    trace.ctas = static_cast<int>(ctas.size());
    shown = ShownOf(trace.ctas, ranks.size(), kCalls).ctas;
    TraceTimes whole;
    for (const TraceTimes& cta : ctas) whole.Add(cta);
    own.Put(whole);
    for (int cta = 0; cta < shown; ++cta) own.Put(ctas[static_cast<std::size_t>(cta)]);
  }
  std::vector<std::uint32_t> all(own.words().size() * static_cast<std::size_t>(ranks.size()));
  ranks.GatherWords(own.words(), all);

  const std::vector<std::string> clocks = ranks.Gather(tracer.clock().name());
  trace.step_ns =
      static_cast<std::int64_t>(ranks.Max(static_cast<double>(tracer.clock().step_ns())));
  WordReader reader(all);
  for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
    RankTrace& its = trace.ranks.emplace_back(RankTrace{clocks[rank], offsets[rank], {}});
    for (int call = 0; call < kCalls; ++call) {
      CallTrace& one = its.calls.emplace_back(CallTrace{reader.Times(ranks.size()), {}});
      for (int cta = 0; cta < shown; ++cta) one.ctas.push_back(reader.Times(ranks.size()));
    }
  }
  return trace;
}

// "" where calls of this kind are traced: those neither wait for the gate nor find L2 empty.
std::string WhyUntraced(const RunConfig& config, Mode mode, const std::string& l2) {
  if (config.trace.empty()) return "without --trace nothing tells who waits for whom";
  if (mode == Mode::kIsolated) return "calls that a gate releases are not traced";
  if (l2 == ToString(L2State::kCold)) return "calls that find L2 cold are not traced";
  return "";
}

}  // namespace

Tracing::Tracing(const MeasureContext& context, std::string_view collective) : context_(context) {
  if (context.config.trace.empty() || context.ranks.rank() != 0) return;
  const BuildFacts build = Build();
  file_.emplace("mailbench " + build.version + " (git " + build.git + ")", std::string(collective));
}

void Tracing::Trace(Mode mode, Instance& instance, CallCounter& calls, PointRecord& record) {
  record.untraced = WhyUntraced(context_.config, mode, record.key.l2);
  if (!record.untraced.empty()) return;
  const Step step("the traced calls of a point");
  TracedCalls traced(record.key.shape, instance, context_);
  if (traced.tracer() == nullptr) {
    record.untraced = traced.refusal();
    return;
  }
  const std::vector<ClockOffset> offsets =
      AlignClocksAround(traced.tracer()->clock(), context_.ranks, [&] { traced.Run(mode, calls); });
  const PointTrace trace = Collect(*traced.tracer(), offsets, context_.ranks);
  record.trace = Summarize(trace);
  if (file_) file_->Add(record.key, trace);
  if (context_.config.check) record.check.Add(OverRanks(traced.Check(), context_.ranks));
}

void Tracing::Write() const {
  if (file_) file_->Write(context_.config.trace);
}

}  // namespace mailbench
