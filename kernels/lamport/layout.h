// The Lamport mailbox: who owns which 16 bytes of it. Shared by hosts and kernels.
#pragma once

#include <cstdint>

#include "kernels/machine/annotations.h"
#include "kernels/machine/max_ranks.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// A word of a slot that no payload has reached. As FP32 it is negative zero, as INT32 the smallest
// number. A payload never holds it: such a word goes out as 0.
inline constexpr std::uint32_t kSentinel = 0x80000000u;

inline constexpr std::uint32_t kGenerations = 3;
// Distances within a poll batch, in packs, are counted in 32 bits.
inline constexpr std::int64_t kMostRankPacks = std::int64_t{1} << 29;

// mailbox[kGenerations][ranks][rank_packs], in packs. The stride of a slot is the capacity, not
// the size of a call: a slot lies in the same place in every call.
struct MailboxLayout {
  int ranks = 0;                // 1 to kMaxRanks
  std::int64_t rank_packs = 0;  // capacity of one rank's input, in packs; up to kMostRankPacks

  MAILBENCH_HOST_DEVICE std::int64_t Slot(std::uint32_t generation, int source,
                                          std::int64_t pack) const {
    return (static_cast<std::int64_t>(generation) * ranks + source) * rank_packs + pack;
  }
  MAILBENCH_HOST_DEVICE std::int64_t packs() const {
    return static_cast<std::int64_t>(kGenerations) * ranks * rank_packs;
  }
  MAILBENCH_HOST_DEVICE std::int64_t bytes() const { return packs() * kPackBytes; }
};

// One rank's view of the mailboxes of all ranks, passed to a kernel by value.
struct MailboxView {
  MailboxLayout layout;
  int rank = 0;
  Pack* local = nullptr;               // this rank's own mailbox
  Pack* peers[kMaxRanks] = {};         // every rank's mailbox as mapped here, the own one included
  MulticastPack* multicast = nullptr;  // all of them at once, where the transport has multicast
};

// What a rank keeps between calls, in its own memory. Zero before the first call.
struct GatherState {
  std::uint32_t generation;  // of the next call, below kGenerations
  std::uint32_t arrivals;    // CTAs of the running call that have read the generation
};

}  // namespace mailbench
