#include "harness/run/instances.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/floor/floor_probe.h"
#include "harness/floor/measure_floor.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

bool HasMode(const SweepPlan& plan, Mode mode) {
  return std::any_of(plan.points.begin(), plan.points.end(),
                     [mode](const SweepPoint& point) { return point.mode == mode; });
}

Floor FloorOn(const SymmetricView& memory, StartGate& gate, const SweepPlan& plan,
              const MeasureContext& context) {
  const Step step("the measurement of the floor");
  FloorProbe probe(memory, context.executor);
  context.ranks.Barrier();
  return MeasureFloor(
      probe, context.executor, gate, context.ranks,
      {.isolated = HasMode(plan, Mode::kIsolated), .eager = HasMode(plan, Mode::kEager)});
}

}  // namespace

SweepMemory MemoryOfSweep(const Collective& collective, int ranks) {
  if (ranks > kMaxRanks) return {};
  return {StartGate::kBytes, collective.has_floor() ? FloorProbe::Bytes(ranks) : 0};
}

Instances::Instances(Collective& collective, const SweepPlan& plan, Transport& transport,
                     const MeasureContext& context) {
  context.heartbeat.Enter(Phase::kSetUp, 0);
  SweepMemory sweep;
  if (context.config.stress == 0) sweep = MemoryOfSweep(collective, context.ranks.size());
  std::map<std::string, std::size_t> bytes;
  std::size_t all = AlignSymmetric(sweep.gate) + AlignSymmetric(sweep.floor);
  for (const std::string& algorithm : plan.algorithms) {
    bytes[algorithm] = collective.SymmetricBytes(algorithm, context.config, transport.site());
    all += AlignSymmetric(bytes[algorithm]);
  }
  if (all > 0) memory_ = transport.Allocate(all);

  std::size_t taken = 0;
  const auto take = [&](std::size_t own) {
    if (own == 0) return SymmetricView{};
    return memory_->Part(std::exchange(taken, taken + AlignSymmetric(own)), own);
  };
  if (sweep.gate > 0) gate_.emplace(take(sweep.gate), context.ranks);
  if (sweep.floor > 0) floor_ = FloorOn(take(sweep.floor), *gate_, plan, context);
  for (const std::string& algorithm : plan.algorithms) {
    by_algorithm_[algorithm] =
        collective.Create(algorithm, {context.config, context.ranks, transport, context.executor,
                                      context.reference, take(bytes[algorithm])});
  }
}

void Instances::Free() {
  for (auto& [algorithm, instance] : by_algorithm_) instance->Free();
  by_algorithm_.clear();
  gate_.reset();
  if (memory_) memory_->Free();
  memory_.reset();
}

}  // namespace mailbench
