#include "harness/run/instances.h"

#include <cstddef>

namespace mailbench {

Instances::Instances(Collective& collective, const SweepPlan& plan, Transport& transport,
                     const MeasureContext& context) {
  context.heartbeat.Enter(Phase::kSetUp, 0);
  std::map<std::string, std::size_t> bytes;
  std::size_t all = 0;
  for (const std::string& algorithm : plan.algorithms) {
    bytes[algorithm] = collective.SymmetricBytes(algorithm, context.config, transport.site());
    all += AlignSymmetric(bytes[algorithm]);
  }
  if (all > 0) memory_ = transport.Allocate(all);
  std::size_t offset = 0;
  for (const std::string& algorithm : plan.algorithms) {
    const std::size_t own = bytes[algorithm];
    const SymmetricView view = own > 0 ? memory_->Part(offset, own) : SymmetricView{};
    offset += AlignSymmetric(own);
    by_algorithm_[algorithm] = collective.Create(
        algorithm,
        {context.config, context.ranks, transport, context.executor, context.reference, view});
  }
}

void Instances::Free() {
  for (auto& [algorithm, instance] : by_algorithm_) instance->Free();
  by_algorithm_.clear();
  if (memory_) memory_->Free();
  memory_.reset();
}

}  // namespace mailbench
