#include "harness/measure/measure_point.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

#include "harness/measure/benchmark_runner.h"
#include "harness/measure/latency.h"
#include "harness/validate/over_ranks.h"

namespace mailbench {
namespace {

// Enough for every generation of a mailbox to be used again.
constexpr int kEagerCheckRounds = 4;
constexpr int kGraphCheckRounds = 2;
// Outputs of one point are kept below this, at least one call's. Calls of a graph beyond it use
// the buffers of earlier ones again.
constexpr std::int64_t kOutputBudgetBytes = std::int64_t{64} << 20;

// One sample's worth of calls: a replay of a graph of several, or one launched by the host.
class Sample {
 public:
  Sample(Mode mode, const Shape& shape, Instance& instance, const MeasureContext& context)
      : instance_(instance), context_(context) {
    if (mode == Mode::kGraph) calls_ = context.config.calls_per_graph;
    const std::int64_t affordable =
        kOutputBudgetBytes / std::max<std::int64_t>(shape.bytes_total, 1);
    slots_ = static_cast<int>(std::clamp<std::int64_t>(affordable, 1, calls_));
    instance.Bind(std::vector<Shape>(static_cast<std::size_t>(slots_), shape));
    if (mode == Mode::kGraph) {
      graph_ = context.executor.Record([&] {
        for (int call = 0; call < calls_; ++call) instance.Enqueue(call % slots_);
      });
    }
  }

  int calls() const { return calls_; }
  // What one call launches; empty on the host machine.
  std::vector<KernelCount> kernels() const {
    if (graph_ != nullptr) return graph_->kernels();
    return context_.executor.Record([&] { instance_.Enqueue(0); })->kernels();
  }

  // Seconds that this rank took for all calls of the sample.
  double Run() {
    return context_.executor.Time(calls_, [&] {
      if (graph_ != nullptr) {
        graph_->Replay();
      } else {
        instance_.Enqueue(0);
      }
    });
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
  Instance& instance_;
  const MeasureContext& context_;
  int calls_ = 1;
  int slots_ = 1;
  std::unique_ptr<Graph> graph_;
};

}  // namespace

PointRecord MeasurePoint(const PointKey& key, Mode mode, std::uint32_t point_index,
                         Instance& instance, CallCounter& calls, const MeasureContext& context) {
  const RunConfig& config = context.config;
  const Ranks& ranks = context.ranks;
  PointRecord record;
  record.key = key;
  record.checked = config.check;
  if (config.check) record.check_reference = context.reference.name();

  context.heartbeat.Enter(Phase::kCheck, point_index);
  Sample sample(mode, key.shape, instance, context);
  record.calls_per_sample = sample.calls() * instance.repeats();
  record.kernels = sample.kernels();
  CheckResult check;
  if (config.check) {
    const int rounds = mode == Mode::kGraph ? kGraphCheckRounds : kEagerCheckRounds;
    for (int round = 0; round < rounds; ++round) {
      sample.Fill(calls);
      // Ranks that share a GPU: what one does before its call, a memset even, may find no room
      // beside the calls of its peers, and they wait for it.
      ranks.Barrier();
      sample.Run();
      check.Add(sample.Check());
    }
    check.Add(AuditTogether(instance, ranks));
  }

  sample.Fill(calls);
  std::vector<double> own_us;
  const auto measure = [&] {
    ranks.Barrier();
    const double seconds = sample.Run() / (sample.calls() * instance.repeats());
    own_us.push_back(seconds * 1e6);
    return ranks.Max(seconds);
  };
  context.heartbeat.Enter(Phase::kWarmUp, point_index);
  const int unmeasured = config.warmup + (mode == Mode::kGraph ? 1 : 0);
  for (int i = 0; i < unmeasured; ++i) measure();
  own_us.clear();
  context.heartbeat.Enter(Phase::kMeasure, point_index);
  RunBenchmark(ToString(key), mode == Mode::kGraph ? config.replays : config.iters, measure);

  context.heartbeat.Enter(Phase::kAudit, point_index);
  if (config.check) {
    check.Add(sample.Check());
    check.Add(AuditTogether(instance, ranks));
    record.check = OverRanks(check, ranks);
  }
  record.input_copies_per_call = instance.input_copies_per_call();
  SummarizeLatency(GatherSamples(own_us, ranks), record);
  return record;
}

}  // namespace mailbench
