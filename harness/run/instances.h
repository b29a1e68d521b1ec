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

class Instances {
 public:
  // Collective. Takes the symmetric memory of all algorithms as one region, since a multicast
  // object is scarce. Throws what Allocate and Create throw.
  Instances(Collective& collective, const SweepPlan& plan, Transport& transport,
            const MeasureContext& context);

  Instance& at(const std::string& algorithm) { return *by_algorithm_.at(algorithm); }
  // Collective. REQUIRES: no call is in flight on any rank.
  void Free();

 private:
  std::unique_ptr<SymmetricRegion> memory_;  // null where no algorithm needs any
  std::map<std::string, std::unique_ptr<Instance>> by_algorithm_;
};

}  // namespace mailbench
