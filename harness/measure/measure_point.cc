#include "harness/measure/measure_point.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "harness/launch/start_gate.h"
#include "harness/measure/benchmark_runner.h"
#include "harness/measure/latency.h"
#include "harness/measure/rank_clocks.h"
#include "harness/ranks/vote_on.h"
#include "harness/validate/over_ranks.h"

namespace mailbench {
namespace {

// Enough for every generation of a mailbox to be used again.
constexpr int kEagerCheckRounds = 4;
constexpr int kGraphCheckRounds = 2;

// One sample's worth of calls: a replay of a graph of several, or one launched by the host. They
// take turns on `slots` inputs and outputs.
class Sample {
 public:
  Sample(const SweepPoint& point, int slots, Instance& instance, const MeasureContext& context)
      : instance_(instance),
        context_(context),
        calls_(CallsPerSample(point.mode, context.config)),
        slots_(slots) {
    instance.Bind(std::vector<Shape>(static_cast<std::size_t>(slots_), point.key.shape));
    if (point.mode == Mode::kGraph) {
      graph_ = context.executor.Record([&] {
        for (int call = 0; call < calls_; ++call) instance.Enqueue(call % slots_);
      });
    }
    if (point.mode == Mode::kIsolated) {
      behind_gate_ = context.executor.RecordBehind(*context.gate, [&] { instance.Enqueue(0); });
    }
  }

  // How often it does what is measured.
  int measured() const { return calls_ * instance_.repeats(); }
  // What one call launches; empty on the host machine.
  std::vector<KernelCount> kernels() const {
    if (graph_ != nullptr) return graph_->kernels();
    return context_.executor.Record([&] { instance_.Enqueue(0); })->kernels();
  }

  // Seconds that this rank took for all calls of the sample.
  double Run() {
    return context_.executor.Time(calls_, [&] { Enqueue(); });
  }
  // The same, of calls that the gate holds back until all ranks have come to it.
  double RunFromGate() {
    return context_.executor.TimeFromGate(*context_.gate, calls_, *behind_gate_);
  }

  void Fill(CallCounter& calls) {
    for (int slot = 0; slot < slots_; ++slot) instance_.Fill(slot, calls.Next());
  }

  CheckResult Check() {
    CheckResult result;
    for (int slot = 0; slot < slots_; ++slot) result.Add(instance_.Check(slot));
    return result;
  }

 private:
  void Enqueue() {
    if (graph_ != nullptr) {
      graph_->Replay();
    } else {
      instance_.Enqueue(0);
    }
  }

  Instance& instance_;
  const MeasureContext& context_;
  int calls_;
  int slots_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Graph> behind_gate_;
};

// A few rounds of calls, each with a payload and buffers of its own.
CheckResult CheckCalls(const SweepPoint& point, Instance& instance, CallCounter& calls,
                       const MeasureContext& context) {
  const int slots =
      SlotsForEachCall(point.key.shape.bytes_total, CallsPerSample(point.mode, context.config));
  Sample sample(point, slots, instance, context);
  CheckResult check;
  const int rounds = point.mode == Mode::kGraph ? kGraphCheckRounds : kEagerCheckRounds;
  for (int round = 0; round < rounds; ++round) {
    sample.Fill(calls);
    // Ranks that share a GPU: what one does before its call, a memset even, may find no room
    // beside the calls of its peers, and they wait for it.
    context.ranks.Barrier();
    sample.Run();
    check.Add(sample.Check());
  }
  check.Add(AuditTogether(instance, context.ranks));
  return check;
}

// Makes what comes before a sample and the sample itself.
class Measurement {
 public:
  Measurement(const SweepPoint& point, Sample& sample, const MeasureContext& context)
      : point_(point), sample_(sample), context_(context) {
    // The first time takes memory.
    if (point.l2.evicts) {
      VoteOn(context.ranks, ExitCode::kMachine, [&] { context.executor.EvictL2(); });
    }
  }

  // Seconds a call, of the slowest rank.
  double Take() {
    if (point_.l2.evicts) context_.executor.EvictL2();
    context_.ranks.Barrier();
    const double seconds =
        (point_.mode == Mode::kIsolated ? sample_.RunFromGate() : sample_.Run()) /
        sample_.measured();
    own_us_.push_back(seconds * 1e6);
    return context_.ranks.Max(seconds);
  }

  // Thrown away.
  WarmUp WarmUpFirst() {
    WarmUp first;
    // The first replay of a graph is slower than the others; and what a call waits for when it is
    // the first on its buffers must not wait for the gate.
    if (point_.mode != Mode::kEager) {
      context_.ranks.Barrier();
      sample_.Run();
      first.samples = 1;
    }
    const auto began = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      const std::chrono::duration<double> own = std::chrono::steady_clock::now() - began;
      return context_.ranks.Max(own.count());
    };
    WarmUp result =
        WarmUpUntilSteady(context_.config.warmup, {.sample = [&] { return Take(); },
                                                   .elapsed = elapsed,
                                                   .clocks_mhz = [&] { return Clocks(); }});
    result.samples += first.samples;
    own_us_.clear();
    return result;
  }

  const std::vector<double>& own_us() const { return own_us_; }
  RankClocks Clocks() const { return GatherClocks(context_.executor, context_.ranks); }

 private:
  const SweepPoint& point_;
  Sample& sample_;
  const MeasureContext& context_;
  std::vector<double> own_us_;  // of this rank, since the warm-up
};

}  // namespace

PointRecord MeasurePoint(const SweepPoint& point, std::uint32_t point_index, Instance& instance,
                         CallCounter& calls, const MeasureContext& context) {
  const RunConfig& config = context.config;
  const Ranks& ranks = context.ranks;
  PointRecord record;
  record.key = point.key;
  record.l2_evicted = point.l2.evicted;
  record.checked = config.check;
  if (config.check) record.check_reference = context.reference.name();

  context.heartbeat.Enter(Phase::kCheck, point_index);
  CheckResult check;
  if (config.check) check = CheckCalls(point, instance, calls, context);

  context.heartbeat.Enter(Phase::kWarmUp, point_index);
  Sample sample(point, point.l2.slots, instance, context);
  record.calls_per_sample = sample.measured();
  record.kernels = sample.kernels();
  sample.Fill(calls);
  Measurement measurement(point, sample, context);
  record.warmup = measurement.WarmUpFirst();
  context.heartbeat.Enter(Phase::kMeasure, point_index);
  RunBenchmark(ToString(point.key), SamplesPerPoint(point.mode, config),
               [&] { return measurement.Take(); });
  const RankClocks clocks_after = measurement.Clocks();

  context.heartbeat.Enter(Phase::kAudit, point_index);
  if (config.check) {
    check.Add(sample.Check());
    check.Add(AuditTogether(instance, ranks));
    record.check = OverRanks(check, ranks);
  }
  record.input_copies_per_call = instance.input_copies_per_call();
  if (point.mode == Mode::kIsolated) {
    if (const auto step_us = context.executor.gate_clock_step_us()) {
      record.clock_step_us = ranks.Max(*step_us) / sample.measured();
    }
  }
  SummarizeLatency(GatherSamples(measurement.own_us(), ranks), record);
  for (std::size_t rank = 0; rank < record.per_rank.size(); ++rank) {
    record.per_rank[rank].clock_before_mhz = record.warmup.clocks_mhz[rank];
    record.per_rank[rank].clock_after_mhz = clocks_after[rank];
  }
  return record;
}

}  // namespace mailbench
