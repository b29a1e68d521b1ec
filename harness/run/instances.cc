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

Floor FloorOn(const SymmetricView& memory, const MeasureContext& context, const FloorCalls& calls) {
  const Step step("the measurement of the floor");
  FloorProbe probe(memory, context.executor);
  context.ranks.Barrier();
  return MeasureFloor(probe, context.executor, context.ranks, calls);
}

}  // namespace

Instances::Instances(Collective& collective, const SweepPlan& plan, Transport& transport,
                     const MeasureContext& context) {
  context.heartbeat.Enter(Phase::kSetUp, 0);
  const bool sweeps = context.config.stress == 0;
  const std::size_t gate = sweeps && HasMode(plan, Mode::kIsolated) ? StartGate::kBytes : 0;
  const std::size_t floor =
      sweeps && context.ranks.size() <= kMaxRanks ? FloorProbe::Bytes(context.ranks.size()) : 0;
  std::map<std::string, std::size_t> bytes;
  std::size_t all = AlignSymmetric(gate) + AlignSymmetric(floor);
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
  if (gate > 0) gate_.emplace(take(gate), context.ranks);
  if (floor > 0) {
    floor_ = FloorOn(take(floor), context, {this->gate(), HasMode(plan, Mode::kEager)});
  }
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
