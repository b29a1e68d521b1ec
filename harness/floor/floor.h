// The floor of a fabric: what no collective of one kernel a call gets below.
#pragma once

#include <optional>

#include "harness/command_line/run_config.h"
#include "harness/measure/statistics.h"

namespace mailbench {

// Microseconds, of samples of the cross-rank maximum.
struct FloorPart {
  double us = 0;  // the median
  MedianInterval interval_us = {};
};

struct Floor {
  FloorPart empty_kernel = {};  // of a chain of dependent kernels in a graph
  // One way, from a store to the poll that sees it; pairs of ranks. Nothing with one rank.
  std::optional<FloorPart> hop = {};
  FloorPart publish_to_all = {};  // a pack to every rank, until one from every rank is seen
  // One kernel that does this once, begun as the calls of a mode are: behind the gate, or by the
  // host. Nothing where no point is of that mode.
  std::optional<FloorPart> isolated_call = {};
  std::optional<FloorPart> eager_call = {};
  bool steady = true;  // the warm-up of every part was at its end

  // What a call of that mode is compared with; nothing where it was not measured. In mode graph a
  // call begins when the one before has ended: its kernel, and a pack from everybody to everybody.
  std::optional<double> call_us(Mode mode) const {
    if (mode == Mode::kGraph) return empty_kernel.us + publish_to_all.us;
    const std::optional<FloorPart>& call = mode == Mode::kIsolated ? isolated_call : eager_call;
    return call ? std::optional(call->us) : std::nullopt;
  }
};

}  // namespace mailbench
