// The mailbox of the known-bad all-gather: three stages in the place of kernels/lamport's three
// generations, with the same sentinel and the same capacity.
#pragma once

#include <cstdint>

#include "kernels/lamport/layout.h"
#include "kernels/machine/annotations.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// What a slot's place in its stage is counted in.
enum class SlotStride {
  kCall,      // the packs of this call: slots of calls of different sizes overlap
  kCapacity,  // one place a slot, whatever the size of the call
};

// What a rank keeps between calls, in its own memory. Zero before the first call.
struct MnnvlState {
  std::uint32_t epoch;                // of the next call; it uses stage epoch % kGenerations
  std::uint32_t arrivals;             // CTAs of the running call that have published
  std::uint32_t packs[kGenerations];  // a rank, of the call that last used each stage
};

// Pack `pack` of `source` in a call of `packs` packs a rank, counted from the mailbox's beginning.
template <SlotStride kStride>
MAILBENCH_HOST_DEVICE std::int64_t MnnvlSlot(const MailboxLayout& layout, std::uint32_t stage,
                                             std::int64_t packs, int source, std::int64_t pack) {
  const std::int64_t stride = kStride == SlotStride::kCall ? packs : layout.rank_packs;
  return layout.Slot(stage, 0, 0) + source * stride + pack;
}

}  // namespace mailbench
