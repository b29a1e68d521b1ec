// The algorithms of a plan, set up.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/collective/collective.h"
#include "harness/measure/measure_point.h"
#include "harness/memory/transport.h"
#include "harness/run/points.h"

namespace mailbench {

using Instances = std::map<std::string, std::unique_ptr<Instance>>;  // by algorithm

// Collective, both. Throws what Create throws.
Instances SetUp(Collective& collective, const SweepPlan& plan, Transport& transport,
                const MeasureContext& context);
void Free(Instances& instances);

}  // namespace mailbench
