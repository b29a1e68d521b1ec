// The independent variables of a point that belong to the collective: its sizes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mailbench {

struct Shape {
  // Named in the collective's own terms, in the order of its table: {"bytes", 1024}.
  std::vector<std::pair<std::string, std::int64_t>> variables;
  std::int64_t bytes_per_rank = 0;  // what one rank contributes to one call
  std::int64_t bytes_total = 0;     // what nccl-tests calls the size of this collective
  // busbw = algbw * bus_factor, as nccl-tests defines it: (N-1)/N for an all-gather.
  double bus_factor = 1;
};

// "bytes=1024", in the order of `variables`.
std::string ToString(const Shape& shape);

}  // namespace mailbench
