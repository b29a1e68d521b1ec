#include "harness/floor/measure_floor.h"

#include <functional>
#include <memory>
#include <vector>

#include "harness/measure/statistics.h"

namespace mailbench {
namespace {

constexpr int kSamples = 9;
// On a GPU a launch takes as long as some rounds. On the host machine it does not, and ranks may be
// many more than cores.
constexpr int kGpuRounds = 500;
constexpr int kHostRounds = 10;

// Of `calls` calls of `rounds` rounds each: microseconds a round.
double Median(int calls, int rounds, Executor& executor, const Ranks& ranks,
              const std::function<void()>& enqueue) {
  std::vector<double> samples;
  for (int i = 0; i <= kSamples; ++i) {
    ranks.Barrier();
    const double seconds = ranks.Max(executor.Time(calls, enqueue));
    if (i > 0) samples.push_back(seconds * 1e6 / (static_cast<double>(calls) * rounds));
  }
  return Summarize(samples).p50;
}

}  // namespace

int FloorRounds(Executor& executor) { return executor.gpu() != nullptr ? kGpuRounds : kHostRounds; }

Floor MeasureFloor(FloorProbe& probe, Executor& executor, const Ranks& ranks) {
  const int rounds = FloorRounds(executor);
  Floor floor;
  const std::unique_ptr<Graph> chain = executor.Record([&] {
    for (int i = 0; i < rounds; ++i) probe.Enqueue(FloorKind::kEmptyKernel, 1);
  });
  floor.empty_kernel_us = Median(rounds, 1, executor, ranks, [&] { chain->Replay(); });
  const auto of = [&](FloorKind kind) {
    return Median(1, rounds, executor, ranks, [&] { probe.Enqueue(kind, rounds); });
  };
  if (ranks.size() > 1) floor.hop_us = of(FloorKind::kHop) / 2;
  floor.publish_to_all_us = of(FloorKind::kPublishToAll);
  return floor;
}

}  // namespace mailbench
