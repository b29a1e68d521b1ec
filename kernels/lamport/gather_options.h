// What the caller of a gather may choose. Every rank chooses alike, save for the abort word.
#pragma once

#include <cstdint>

namespace mailbench {

// The algorithms. They share mailbox, state and result, and may alternate call by call.
enum class GatherKind {
  kLamport,     // protocol.h
  kOverlapped,  // overlapped.h: the arrivals are counted while the packs are on their way
};

// How a pack reaches every rank's mailbox.
enum class Publish {
  kUnicast,    // one store a rank, through that rank's mapping
  kMulticast,  // one store through the multicast mapping
  // The same, and fence.proxy.alias behind it: orders the store with accesses through the other
  // mappings of the same memory (kernels/PROTOCOLS.md, "The alias fence").
  kMulticastAliasFence,
};

// The ordering of the atomic that counts a CTA's arrival.
enum class Arrival {
  kRelaxed,
  kAcqRel,  // waits until the CTA's published stores have been acknowledged
};

// From when on the grid of the next call may be scheduled. Never before the wait for earlier grids:
// L8.
enum class Trigger { kAfterWait, kAfterPublish };

struct GatherOptions {
  GatherKind kind = GatherKind::kLamport;
  Publish publish = Publish::kUnicast;
  Arrival arrival = Arrival::kRelaxed;    // of overlapped; lamport's is always kAcqRel
  Trigger trigger = Trigger::kAfterWait;  // of overlapped; lamport's is always kAfterPublish
  // As mapped on the GPU, in host memory. Once it is not 0, threads that poll in vain give up and
  // the call ends, its output unfinished; mailboxes must then be armed and states zeroed anew.
  // Null: never.
  const std::uint32_t* abort_word = nullptr;
};

}  // namespace mailbench
