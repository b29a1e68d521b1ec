#include "harness/measure/l2.h"

#include <algorithm>

namespace mailbench {
namespace {

int SlotsWithin(std::int64_t bytes, std::int64_t bytes_per_slot, int calls) {
  const std::int64_t fitting = bytes / std::max<std::int64_t>(bytes_per_slot, 1);
  return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, calls));
}

L2Use Hot(const L2Footprint& footprint, int calls) {
  const std::int64_t slot = footprint.input_bytes + footprint.output_bytes;
  const std::int64_t room =
      footprint.l2_bytes / 4 / footprint.ranks_per_gpu - footprint.mailbox_bytes;
  L2Use use;
  use.state = slot <= room ? ToString(L2State::kHot) : kL2Exceeded;
  use.slots = SlotsWithin(room, slot, calls);
  return use;
}

L2Use Cold(const L2Footprint& footprint, Mode mode, int calls) {
  L2Use use;
  use.state = ToString(L2State::kCold);
  use.slots = SlotsWithin(std::max(kOutputBudgetBytes, 2 * footprint.l2_bytes),
                          footprint.output_bytes, calls);
  use.evicts = true;
  use.evicted = mode == Mode::kGraph
                    ? "input and output of every call; the mailbox for the first calls of a replay"
                    : "input, output and mailbox";
  return use;
}

}  // namespace

int SlotsForEachCall(std::int64_t output_bytes, int calls) {
  return SlotsWithin(kOutputBudgetBytes, output_bytes, calls);
}

L2Use UseL2(L2State wanted, const L2Footprint& footprint, Mode mode, int calls) {
  if (footprint.l2_bytes == 0) {
    L2Use use;
    use.slots = SlotsForEachCall(footprint.output_bytes, calls);
    return use;
  }
  return wanted == L2State::kHot ? Hot(footprint, calls) : Cold(footprint, mode, calls);
}

}  // namespace mailbench
