// The floor of a fabric: what no collective of one kernel a call gets below.
#pragma once

#include <optional>

namespace mailbench {

// Microseconds; each the median of some samples of the cross-rank maximum.
struct Floor {
  double empty_kernel_us = 0;  // of a chain of dependent kernels in a graph
  // One way, from a store to the poll that sees it; pairs of ranks. Nothing with one rank.
  std::optional<double> hop_us = {};
  double publish_to_all_us = 0;  // a pack to every rank, until one from every rank is seen

  // A collective of one kernel a call, that begins when the call before has ended: its kernel, and
  // one word from everybody to everybody.
  double call_us() const { return empty_kernel_us + publish_to_all_us; }
};

}  // namespace mailbench
