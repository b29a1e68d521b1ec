// The Lamport all-gather: every rank's input, in rank order, on every rank, in one kernel and
// without a flag: the payload announces itself by no longer being the sentinel.
//
// One thread a 16-byte pack of the rank's input. A call
//   1. reads the generation and counts the CTA; the last CTA to arrive advances the generation;
//   2. publishes: stores the pack into slot [generation][rank][pack] of every rank's mailbox, its
//      own one too, through the transport's mapping; a sentinel word goes out as 0;
//   3. collects: polls slot [generation][source][pack] of every source, the own one included,
//      until no word of it is the sentinel; writes it to the output; stores the sentinel back.
//
// Invariants (why each holds, and what breaks without it: kernels/PROTOCOLS.md, "Lamport")
//   L1  Between calls every word of a mailbox is the sentinel.
//   L2  A published word is never the sentinel.
//   L3  Every word that a call publishes is awaited and reset by the same call on the rank where
//       it lands; the own copy is no exception.
//   L4  A slot has one place, whatever the size of the call: the stride is the capacity.
//   L5  A word is taken only when all four words of its pack have been seen in one load without a
//       sentinel: a pack can land word by word.
//   L6  All CTAs of a call use one generation: each reads it before it counts itself, and it
//       advances only when all are counted.
//   L7  A rank is at most one call ahead of a peer, since finishing a call needs every rank's
//       payload: it never publishes into a slot that a peer has yet to reset.
//   L8  Generation, input and mailbox are touched, and dependents are triggered, only after
//       grid_dependency_wait.
//   L9  No thread's read of the generation follows the arrival of its CTA. Here one thread does
//       both; in overlapped.h every thread reads, and a CTA barrier comes before the arrival.
//
// REQUIRES: calls are issued in the same order with the same number of packs on every rank, on one
// stream a rank: calls of one instance never overlap on a rank. Before the first call every rank
// has filled its mailbox with sentinels, synchronised and passed a barrier. input and output are
// 16-byte aligned and do not overlap.
#pragma once

#include <cstdint>

#include "kernels/lamport/gather_options.h"
#include "kernels/lamport/layout.h"
#include "kernels/machine/annotations.h"
#include "kernels/machine/machine.h"

namespace mailbench {

struct AllGatherArgs {
  const Pack* input = nullptr;  // [packs]
  Pack* output = nullptr;       // [ranks][packs]
  std::int64_t packs = 0;       // of one rank's input; 1 to mailbox.layout.rank_packs
  GatherState* state = nullptr;
  MailboxView mailbox;
};

// The CTA's shared memory.
struct AllGatherShared {
  std::uint32_t generation;
};

// The rules that a test may break, one at a time, to see that the breach is found. What ships obeys
// all of them.
struct Faithful {
  static constexpr bool kSanitises = true;              // L2
  static constexpr int kPolledWords = kPackWords;       // L5
  static constexpr std::int64_t kPackLeftUnreset = -1;  // L1, L3
  static constexpr bool kBarrierBeforeArrival = true;   // L9, of overlapped.h
};

template <class Rules>
MAILBENCH_DEVICE Pack Sanitised(Pack pack) {
  if constexpr (Rules::kSanitises) {
    MAILBENCH_UNROLL
    for (int i = 0; i < kPackWords; ++i) {
      if (pack.word[i] == kSentinel) pack.word[i] = 0;
    }
  }
  return pack;
}

// A word of the pack that is the sentinel; -1 when there is none. Compared as integers: a
// floating-point comparison would take a subnormal or a zero for it.
template <class Rules>
MAILBENCH_DEVICE int SentinelWord(const Pack& pack) {
  int found = -1;
  MAILBENCH_UNROLL
  for (int i = 0; i < Rules::kPolledWords; ++i) {
    if (pack.word[i] == kSentinel) found = i;
  }
  return found;
}

// The pack of this thread; it has none when this is not below args.packs.
template <Machine M>
MAILBENCH_DEVICE std::int64_t OwnPack(M& m) {
  return static_cast<std::int64_t>(m.cta_index()) * m.cta_size() + m.thread_index();
}

// Whether the CTA that found `arrived_before` others counted is the call's last.
template <Machine M>
MAILBENCH_DEVICE bool ArrivedLast(M& m, std::uint32_t arrived_before) {
  return arrived_before == static_cast<std::uint32_t>(m.grid_size()) - 1;
}

// L6: by the CTA that arrived last.
template <Machine M>
MAILBENCH_DEVICE void AdvanceGeneration(M& m, GatherState* state, std::uint32_t current) {
  m.store_u32(&state->generation, (current + 1) % kGenerations);
  m.store_u32(&state->arrivals, 0);
}

// Step 1. Returns the call's generation, the same in every thread of the grid.
template <Machine M>
MAILBENCH_DEVICE std::uint32_t EnterCall(M& m, GatherState* state, AllGatherShared& shared) {
  if (m.thread_index() == 0) {
    const std::uint32_t current = m.load_volatile_u32(&state->generation);
    shared.generation = current;
    // L6, L9: the load above comes before the count. Acquire and release, so that the last CTA's
    // stores below come after every other CTA's load.
    if (ArrivedLast(m, m.atomic_add_acq_rel_gpu(&state->arrivals, 1))) {
      AdvanceGeneration(m, state, current);
    }
  }
  m.cta_barrier();
  return shared.generation;
}

// Step 2.
template <Publish kPublish, Machine M>
MAILBENCH_DEVICE void PublishPack(M& m, const MailboxView& mailbox, std::int64_t slot, Pack pack) {
  if constexpr (kPublish == Publish::kMulticast) {
    m.multimem_store_relaxed_sys_v4_f32(mailbox.multicast, slot, pack);
  } else {
    // Each rank begins with its successor, so that no link carries all ranks' stores at once.
    int peer = mailbox.rank;
    for (int i = 0; i < mailbox.layout.ranks; ++i) {
      if (++peer == mailbox.layout.ranks) peer = 0;
      m.store_relaxed_sys_v4(mailbox.peers[peer] + slot, pack);
    }
  }
}

// Step 3 for the sources [first, first + kBatch) that exist. All loads of a batch are in flight
// together. False: the run is being given up. REQUIRES: layout.rank_packs <= kMostRankPacks.
template <int kBatch, class Rules, Machine M>
MAILBENCH_DEVICE bool CollectBatch(M& m, const AllGatherArgs& args, std::uint32_t generation,
                                   std::int64_t pack, int first) {
  const MailboxLayout& layout = args.mailbox.layout;
  Pack* const slots = args.mailbox.local + layout.Slot(generation, first, pack);
  Pack* const outputs = args.output + first * args.packs + pack;
  const int last = (layout.ranks - first < kBatch ? layout.ranks - first : kBatch) - 1;
  const auto stride = static_cast<std::uint32_t>(layout.rank_packs);
  const std::uint32_t farthest = static_cast<std::uint32_t>(last) * stride;
  Pack values[kBatch];
  while (true) {
    // No condition stands before a load: where there are fewer sources, the last is loaded again.
    MAILBENCH_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      const std::uint32_t offset = static_cast<std::uint32_t>(i) * stride;
      values[i] = m.load_volatile_v4(slots + (offset < farthest ? offset : farthest));
    }
    // Looked at only now, the last one first: ptxas would else wait for the first load before it
    // issues the last.
    int missing = -1;
    int missing_word = 0;
    MAILBENCH_UNROLL
    for (int i = kBatch - 1; i >= 0; --i) {
      if (const int word = SentinelWord<Rules>(values[i]); word >= 0) {
        missing = i < last ? i : last;
        missing_word = word;
      }
    }
    if (missing < 0) break;  // L5
    const Pack* slot = slots + missing * layout.rank_packs;
    if (!m.poll_again({&slot->word[missing_word], kSentinel, generation, first + missing, pack})) {
      return false;
    }
  }
  MAILBENCH_UNROLL
  for (int i = 0; i < kBatch; ++i) {
    if (i > last) break;
    m.store_v4(outputs + i * args.packs, values[i]);
    if (Rules::kPackLeftUnreset >= 0 && pack == Rules::kPackLeftUnreset) continue;
    // L1, L3: what landed is reset by the call that awaited it.
    m.store_v4(slots + i * layout.rank_packs, Pack{{kSentinel, kSentinel, kSentinel, kSentinel}});
  }
  return true;
}

// Step 3. False: the run is being given up.
template <int kBatch, class Rules, Machine M>
MAILBENCH_DEVICE bool Collect(M& m, const AllGatherArgs& args, std::uint32_t generation,
                              std::int64_t pack) {
  for (int first = 0; first < args.mailbox.layout.ranks; first += kBatch) {
    if (!CollectBatch<kBatch, Rules>(m, args, generation, pack, first)) return false;
  }
  return true;
}

template <Publish kPublish, int kBatch, class Rules = Faithful, Machine M>
MAILBENCH_DEVICE void AllGather(M& m, const AllGatherArgs& args, AllGatherShared& shared) {
  const std::int64_t pack = OwnPack(m);
  const bool active = pack < args.packs;

  m.grid_dependency_wait();  // L8
  const std::uint32_t generation = EnterCall(m, args.state, shared);
  if (active) {
    const MailboxView& mailbox = args.mailbox;
    PublishPack<kPublish>(m, mailbox, mailbox.layout.Slot(generation, mailbox.rank, pack),
                          Sanitised<Rules>(m.load_v4(args.input + pack)));
  }
  m.grid_launch_dependents();  // L8
  if (active) Collect<kBatch, Rules>(m, args, generation, pack);
}

}  // namespace mailbench
