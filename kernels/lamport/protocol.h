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
#include "kernels/lamport/rules.h"
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

// A word of the pack that is the sentinel; -1 when there is none.
template <class Rules>
MAILBENCH_DEVICE int SentinelWord(const Pack& pack) {
  int found = -1;
  MAILBENCH_UNROLL
  for (int i = 0; i < Rules::kPolledWords; ++i) {
    if (Rules::IsSentinel(pack.word[i])) found = i;
  }
  return found;
}

// L4: the distance of the slots of two ranks, in packs.
template <class Rules>
MAILBENCH_DEVICE std::int64_t StrideOf(const AllGatherArgs& args) {
  return Rules::kStrideIsCallSize ? args.packs : args.mailbox.layout.rank_packs;
}

template <class Rules>
MAILBENCH_DEVICE std::int64_t SlotOf(const AllGatherArgs& args, std::uint32_t generation,
                                     int source, std::int64_t pack) {
  if constexpr (Rules::kCountsEpochs) generation %= kGenerations;
  if constexpr (Rules::kStrideIsCallSize) {
    return args.mailbox.layout.Slot(generation, 0, source * args.packs + pack);
  } else {
    return args.mailbox.layout.Slot(generation, source, pack);
  }
}

// The pack of this thread; it has none when this is not below args.packs.
template <Machine M>
MAILBENCH_DEVICE std::int64_t OwnPack(M& m) {
  return static_cast<std::int64_t>(m.cta_index()) * m.cta_size() + m.thread_index();
}

// Counts the CTA, by one thread of it. Returns how many had arrived before.
template <Arrival kArrival, Machine M>
MAILBENCH_DEVICE std::uint32_t CountArrival(M& m, GatherState* state) {
  if constexpr (kArrival == Arrival::kRelaxed) return m.atomic_add_relaxed_gpu(&state->arrivals, 1);
  return m.atomic_add_acq_rel_gpu(&state->arrivals, 1);
}

// Whether the CTA that found `arrived_before` others counted is the call's last.
template <class Rules = Faithful, Machine M>
MAILBENCH_DEVICE bool ArrivedLast(M& m, std::uint32_t arrived_before) {
  if constexpr (Rules::kAdvancesAtFirstArrival) return arrived_before == 0;
  return arrived_before == static_cast<std::uint32_t>(m.grid_size()) - 1;
}

// L6: by the CTA that arrived last.
template <class Rules = Faithful, Machine M>
MAILBENCH_DEVICE void AdvanceGeneration(M& m, GatherState* state, std::uint32_t current) {
  const std::uint32_t next =
      Rules::kCountsEpochs ? current + 1 : (current + 1) % Rules::kGenerationsUsed;
  m.store_u32(&state->generation, next);
  if constexpr (Rules::kClearsCount) m.store_u32(&state->arrivals, 0);
}

// Step 1. Returns the call's generation, the same in every thread of the grid.
template <class Rules = Faithful, Machine M>
MAILBENCH_DEVICE std::uint32_t EnterCall(M& m, GatherState* state, AllGatherShared& shared) {
  if constexpr (Rules::kHostComputesGeneration) return m.load_volatile_u32(&state->generation);
  if (m.thread_index() == 0) {
    std::uint32_t arrived_before = 0;
    if constexpr (Rules::kCountsBeforeReading) {
      arrived_before = CountArrival<Rules::kArrival>(m, state);
    }
    const std::uint32_t current = m.load_volatile_u32(&state->generation);
    shared.generation = current;
    // L6, L9: the load above comes before the count. Acquire and release, so that the last CTA's
    // stores below come after every other CTA's load.
    if constexpr (!Rules::kCountsBeforeReading) {
      arrived_before = CountArrival<Rules::kArrival>(m, state);
    }
    if (ArrivedLast<Rules>(m, arrived_before)) AdvanceGeneration<Rules>(m, state, current);
  }
  if constexpr (Rules::kBarrierAfterReading) m.cta_barrier();
  return shared.generation;
}

// Step 2.
template <Publish kPublish, class Rules = Faithful, Machine M>
MAILBENCH_DEVICE void PublishPack(M& m, const MailboxView& mailbox, std::int64_t slot, Pack pack) {
  if constexpr (kPublish != Publish::kUnicast && Rules::kPublishesWeakly) {
    m.multimem_store_weak_v4_f32(mailbox.multicast, slot, pack);
  } else if constexpr (kPublish != Publish::kUnicast) {
    m.multimem_store_relaxed_sys_v4_f32(mailbox.multicast, slot, pack);
    if constexpr (kPublish == Publish::kMulticastAliasFence) m.fence_proxy_alias();
  } else {
    // Each rank begins with its successor, so that no link carries all ranks' stores at once.
    int peer = mailbox.rank;
    for (int i = 0; i < mailbox.layout.ranks; ++i) {
      if (++peer == mailbox.layout.ranks) peer = 0;
      if constexpr (Rules::kPublishesWeakly) {
        m.store_v4(mailbox.peers[peer] + slot, pack);
      } else {
        m.store_relaxed_sys_v4(mailbox.peers[peer] + slot, pack);
      }
    }
  }
}

// L1, L3: what landed is reset by the call that awaited it. The slot of `source` and `pack`.
template <class Rules, Machine M>
MAILBENCH_DEVICE void ResetSlot(M& m, const AllGatherArgs& args, std::uint32_t generation,
                                int source, std::int64_t pack, Pack* slot) {
  constexpr Pack kEmpty{{kSentinel, kSentinel, kSentinel, kSentinel}};
  if (Rules::kPackLeftUnreset >= 0 && pack == Rules::kPackLeftUnreset) return;
  if (Rules::kOwnSlot == OwnSlot::kWriteOnly && source == args.mailbox.rank) return;
  if constexpr (Rules::kReset == Reset::kOwn || Rules::kReset == Reset::kBeforeOutput) {
    m.store_v4(slot, kEmpty);
  } else if constexpr (Rules::kReset != Reset::kNothing) {
    const std::uint32_t distance = Rules::kReset == Reset::kNext ? 1 : kGenerations - 1;
    const std::uint32_t other = (generation + distance) % kGenerations;
    const std::int64_t extent =
        Rules::kReset == Reset::kPrevious ? args.mailbox.layout.rank_packs : args.packs;
    for (std::int64_t i = pack; i < extent; i += args.packs) {
      m.store_v4(args.mailbox.local + SlotOf<Rules>(args, other, source, i), kEmpty);
    }
  }
}

// The sources [first, first + count), whose slots of one pack are polled together.
struct Batch {
  int first;
  int count;
  Pack* slots;           // the first source's
  std::uint32_t stride;  // from one source's slot to the next
};

// Of no use to the machines that are timed, whose compiler leaves it out.
template <int kBatch, class Rules, Machine M>
MAILBENCH_DEVICE void MarkLookAt(M& m, const Batch& batch, const Pack (&values)[kBatch]) {
  std::uint32_t present = 0;
  MAILBENCH_UNROLL
  for (int i = 0; i < kBatch; ++i) {
    const bool whole = i < batch.count && SentinelWord<Rules>(values[i]) < 0;
    present |= static_cast<std::uint32_t>(whole) << i;
  }
  m.mark_look(batch.first, present);
}

// Loads a batch until no word of it is the sentinel; all loads are in flight together. False: the
// run is being given up. `own`: what this thread has published; for rules that take it from there.
template <int kBatch, class Rules, Machine M>
MAILBENCH_DEVICE bool AwaitBatch(M& m, const AllGatherArgs& args, std::uint32_t generation,
                                 std::int64_t pack, const Batch& batch, const Pack& own,
                                 Pack (&values)[kBatch]) {
  const int last = batch.count - 1;
  const std::uint32_t farthest = static_cast<std::uint32_t>(last) * batch.stride;
  constexpr bool kAwaitsOwn =
      Rules::kOwnSlot == OwnSlot::kAwaited || Rules::kOwnSlot == OwnSlot::kAwaitedForReset;
  while (true) {
    // No condition stands before a load: where there are fewer sources, the last is loaded again.
    MAILBENCH_UNROLL
    for (int i = 0; i < kBatch; ++i) {
      const std::uint32_t offset = static_cast<std::uint32_t>(i) * batch.stride;
      values[i] = m.load_volatile_v4(batch.slots + (offset < farthest ? offset : farthest));
      if (!kAwaitsOwn && batch.first + (i < last ? i : last) == args.mailbox.rank) values[i] = own;
    }
    MarkLookAt<kBatch, Rules>(m, batch, values);
    // Looked at only now, the last one first: ptxas would else wait for the first load before it
    // issues the last.
    bool complete = true;
    MAILBENCH_UNROLL
    for (int i = kBatch - 1; i >= 0; --i) complete &= SentinelWord<Rules>(values[i]) < 0;
    if (complete) return true;  // L5

    // Of no use to a GPU's machine, whose compiler leaves it out.
    int missing = 0;
    int missing_word = 0;
    MAILBENCH_UNROLL
    for (int i = kBatch - 1; i >= 0; --i) {
      if (const int word = SentinelWord<Rules>(values[i]); word >= 0) {
        missing = i < last ? i : last;
        missing_word = word;
      }
    }
    const Pack* slot = batch.slots + missing * static_cast<std::int64_t>(batch.stride);
    if (!m.poll_again(
            {&slot->word[missing_word], kSentinel, generation, batch.first + missing, pack})) {
      return false;
    }
  }
}

// Writes what has come to the output, and resets its slots.
template <int kBatch, class Rules, Machine M>
MAILBENCH_DEVICE void TakeBatch(M& m, const AllGatherArgs& args, std::uint32_t generation,
                                std::int64_t pack, const Batch& batch, const Pack& own,
                                Pack (&values)[kBatch]) {
  Pack* const outputs = args.output + batch.first * args.packs + pack;
  MAILBENCH_UNROLL
  for (int i = 0; i < kBatch; ++i) {
    if (i >= batch.count) break;
    const int source = batch.first + i;
    Pack* const slot = batch.slots + i * StrideOf<Rules>(args);
    constexpr bool kBeforeOutput = Rules::kReset == Reset::kBeforeOutput;
    if (kBeforeOutput) ResetSlot<Rules>(m, args, generation, source, pack, slot);
    if (Rules::kOwnSlot != OwnSlot::kAwaited && source == args.mailbox.rank) values[i] = own;
    m.store_v4(outputs + i * args.packs, values[i]);
    if (!kBeforeOutput) ResetSlot<Rules>(m, args, generation, source, pack, slot);
  }
}

// Step 3. False: the run is being given up. `own`: as in AwaitBatch. REQUIRES:
// layout.rank_packs <= kMostRankPacks.
template <int kBatch, class Rules, Machine M>
MAILBENCH_DEVICE bool Collect(M& m, const AllGatherArgs& args, std::uint32_t generation,
                              std::int64_t pack, const Pack& own) {
  const int ranks = args.mailbox.layout.ranks;
  for (int first = 0; first < ranks; first += kBatch) {
    const int left = ranks - first;
    const Batch batch{first, left < kBatch ? left : kBatch,
                      args.mailbox.local + SlotOf<Rules>(args, generation, first, pack),
                      static_cast<std::uint32_t>(StrideOf<Rules>(args))};
    Pack values[kBatch];
    if (!AwaitBatch<kBatch, Rules>(m, args, generation, pack, batch, own, values)) return false;
    TakeBatch<kBatch, Rules>(m, args, generation, pack, batch, own, values);
  }
  return true;
}

template <Publish kPublish, int kBatch, class Rules = Faithful, Machine M>
MAILBENCH_DEVICE void AllGather(M& m, const AllGatherArgs& args, AllGatherShared& shared) {
  const std::int64_t pack = OwnPack(m);
  const bool active = pack < args.packs;

  Pack own{};
  if constexpr (Rules::kTriggersBeforeWait) m.grid_launch_dependents();
  if constexpr (Rules::kReadsInputBeforeWait) {
    if (active) own = m.load_v4(args.input + pack);
  }
  if constexpr (Rules::kWaits) m.grid_dependency_wait();  // L8
  m.mark(TraceEvent::kStart);
  const std::uint32_t generation = EnterCall<Rules>(m, args.state, shared);
  if (active) {
    if constexpr (!Rules::kReadsInputBeforeWait) own = m.load_v4(args.input + pack);
    own = Sanitised<Rules>(own);
    PublishPack<kPublish, Rules>(m, args.mailbox,
                                 SlotOf<Rules>(args, generation, args.mailbox.rank, pack), own);
    m.mark(TraceEvent::kPublished);
  }
  m.grid_launch_dependents();  // L8
  if (active && Collect<kBatch, Rules>(m, args, generation, pack, own)) {
    m.mark(TraceEvent::kDone);
  }
}

}  // namespace mailbench
