// The algorithms of a plan, set up.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "harness/collective/collective.h"
#include "harness/floor/floor.h"
#include "harness/launch/start_gate.h"
#include "harness/measure/measure_point.h"
#include "harness/memory/transport.h"
#include "harness/run/points.h"

namespace mailbench {

// What a sweep takes of each rank's share of symmetric memory beside its algorithms; nothing where
// there are more than kMaxRanks ranks.
struct SweepMemory {
  std::size_t gate = 0;
  std::size_t floor = 0;
};
SweepMemory MemoryOfSweep(const Collective& collective, int ranks);

class Instances {
 public:
  // Collective. Takes the symmetric memory of all algorithms and, unless for a stress, of the start
  // gate and the floor, which is measured here, as one region, since a multicast object is scarce.
  // Throws what Allocate and Create throw.
  Instances(Collective& collective, const SweepPlan& plan, Transport& transport,
            const MeasureContext& context);

  Instance& at(const std::string& algorithm) { return *by_algorithm_.at(algorithm); }
  StartGate* gate() { return gate_ ? &*gate_ : nullptr; }  // null where there is none
  // Of the fabric; nothing in a stress, and for more ranks than its kernels take.
  const std::optional<Floor>& floor() const { return floor_; }
  // Collective. REQUIRES: no call is in flight on any rank.
  void Free();

 private:
  std::unique_ptr<SymmetricRegion> memory_;  // null where nothing needs any
  std::optional<StartGate> gate_;
  std::optional<Floor> floor_;
  std::map<std::string, std::unique_ptr<Instance>> by_algorithm_;
};

}  // namespace mailbench
