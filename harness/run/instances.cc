#include "harness/run/instances.h"

namespace mailbench {

Instances SetUp(Collective& collective, const SweepPlan& plan, Transport& transport,
                const MeasureContext& context) {
  context.heartbeat.Enter(Phase::kSetUp, 0);
  Instances instances;
  for (const std::string& algorithm : plan.algorithms) {
    instances[algorithm] = collective.Create(
        algorithm, {context.config, context.ranks, transport, context.executor, context.reference});
  }
  return instances;
}

void Free(Instances& instances) {
  for (auto& [algorithm, instance] : instances) instance->Free();
  instances.clear();
}

}  // namespace mailbench
