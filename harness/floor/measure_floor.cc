#include "harness/floor/measure_floor.h"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "harness/measure/rank_clocks.h"
#include "harness/measure/statistics.h"
#include "harness/measure/warm_up.h"

namespace mailbench {
namespace {

constexpr int kWarmUpSamples = 5;
constexpr std::size_t kLeastSamples = 9;
constexpr std::size_t kMostSamples = 50;
// Of a part's warm-up, and of its samples: a floor must not hold up a sweep of many ranks on few
// cores.
constexpr double kMostSeconds = 0.5;
// On a GPU a launch takes as long as some rounds. On the host machine it does not, and ranks may be
// many more than cores.
constexpr int kGpuRounds = 500;
constexpr int kHostRounds = 10;

// Measures one part after another.
class Parts {
 public:
  Parts(Executor& executor, const Ranks& ranks) : executor_(executor), ranks_(ranks) {}

  // `sample`: takes one on this rank, seconds. `rounds`: that are in it, or for a hop half rounds.
  FloorPart Measure(int rounds, const std::function<double()>& sample) {
    const auto take = [&] {
      ranks_.Barrier();
      return ranks_.Max(sample());
    };
    auto began = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      const std::chrono::duration<double> own = std::chrono::steady_clock::now() - began;
      return ranks_.Max(own.count());
    };
    const WarmUp warm_up = WarmUpUntilSteady(
        kWarmUpSamples, {.sample = take,
                         .elapsed = elapsed,
                         .clocks_mhz = [&] { return GatherClocks(executor_, ranks_); },
                         .most_seconds = kMostSeconds});
    steady_ = steady_ && warm_up.steady == true;
    began = std::chrono::steady_clock::now();
    std::vector<double> samples_us;
    while (samples_us.size() < kLeastSamples ||
           (samples_us.size() < kMostSamples && elapsed() < kMostSeconds)) {
      samples_us.push_back(take() * 1e6 / rounds);
    }
    return {Summarize(samples_us).p50, IntervalOfMedian(samples_us)};
  }

  bool steady() const { return steady_; }

 private:
  Executor& executor_;
  const Ranks& ranks_;
  bool steady_ = true;
};

}  // namespace

int FloorRounds(Executor& executor) { return executor.gpu() != nullptr ? kGpuRounds : kHostRounds; }

Floor MeasureFloor(FloorProbe& probe, Executor& executor, StartGate& gate, const Ranks& ranks,
                   const FloorCalls& calls) {
  const int rounds = FloorRounds(executor);
  Parts parts(executor, ranks);
  Floor floor;
  const std::unique_ptr<Graph> chain = executor.Record([&] {
    for (int i = 0; i < rounds; ++i) probe.Enqueue(FloorKind::kEmptyKernel, 1);
  });
  floor.empty_kernel =
      parts.Measure(rounds, [&] { return executor.Time(rounds, [&] { chain->Replay(); }); });
  // All ranks begin together: neither launches nor one rank's wait for another's are in the rounds.
  const auto from_gate = [&](FloorKind kind, int of, int halves) {
    // A first launch may wait for the device.
    executor.Time(1, [&] { probe.Enqueue(kind, of); });
    const std::unique_ptr<Graph> call =
        executor.RecordBehind(gate, [&] { probe.Enqueue(kind, of); });
    return parts.Measure(halves * of, [&] { return executor.TimeFromGate(gate, 1, *call); });
  };
  // A round of hops is one there and one back.
  if (ranks.size() > 1) floor.hop = from_gate(FloorKind::kHop, rounds, 2);
  floor.publish_to_all = from_gate(FloorKind::kPublishToAll, rounds, 1);
  if (calls.isolated) floor.isolated_call = from_gate(FloorKind::kPublishToAll, 1, 1);
  if (calls.eager) {
    floor.eager_call = parts.Measure(
        1, [&] { return executor.Time(1, [&] { probe.Enqueue(FloorKind::kPublishToAll, 1); }); });
  }
  floor.steady = parts.steady();
  return floor;
}

}  // namespace mailbench
