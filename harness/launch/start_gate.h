// The start gate of a run: releases all ranks together, whatever host they are on. The protocol is
// kernels/start_gate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/memory/symmetric_memory.h"
#include "harness/ranks/ranks.h"
#include "kernels/start_gate/layout.h"

namespace mailbench {

class StartGate {
 public:
  static constexpr std::size_t kBytes = sizeof(Latch);  // of each rank's share

  // `memory`: kBytes, zeroed on every rank; it and `ranks` outlive the gate.
  // REQUIRES: at most kMaxRanks ranks.
  StartGate(const SymmetricView& memory, const Ranks& ranks);

  const StartGateView& view() const { return view_; }
  const Latch* own() const { return view_.latches[view_.rank]; }
  // Of the next release; the same on every rank, which all ask for each.
  std::uint32_t NextGeneration() { return ++generation_; }
  // Collective: all ranks have come to the gate.
  void Meet() const { ranks_.Barrier(); }
  // Whether this rank is the one that releases, once all have met.
  bool releases() const { return view_.rank == 0; }

 private:
  const Ranks& ranks_;
  StartGateView view_;
  std::uint32_t generation_ = 0;
};

}  // namespace mailbench
