// The kernels of the fabric's floor (kernels/fabric_floor/), on any transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/launch/executor.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/validate/check_result.h"
#include "kernels/fabric_floor/layout.h"

namespace mailbench {

class FloorProbe {
 public:
  // Of each rank's share of symmetric memory.
  static std::size_t Bytes(int ranks) { return FloorLayout{ranks}.bytes(); }

  // Every rank makes one and calls it alike. REQUIRES: `memory` has Bytes() and is zero; all ranks
  // have made theirs before any calls. `executor` outlives the probe.
  FloorProbe(const SymmetricView& memory, Executor& executor);
  ~FloorProbe();
  FloorProbe(const FloorProbe&) = delete;
  FloorProbe& operator=(const FloorProbe&) = delete;

  // One call, of that many rounds. May be recorded.
  void Enqueue(FloorKind kind, int rounds);
  // Whether the counters of this rank's share are what the rounds that have ended make them: every
  // source's for kPublishToAll, the partner's for kHop. REQUIRES: no call is in flight here.
  CheckResult Check(FloorKind kind);

 private:
  Executor& executor_;
  FloorArgs args_;
  std::unique_ptr<Buffer> state_;
};

}  // namespace mailbench
