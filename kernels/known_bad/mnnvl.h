// The known-bad baseline: the public mnnvl_lamport_all_gather, re-implemented from a description of
// its algorithm. It is wrong on purpose and stays so; kernels/known_bad/KNOWN_BAD.md says where.
//
// One thread a 16-byte pack of the rank's input. A call
//   1. waits for earlier grids and reads the epoch: the call's stage, and the stage to clean with
//      the size that it was last used with;
//   2. publishes: stores the pack, a sentinel word as 0, into slot [stage][rank][pack] of every
//      rank's mailbox; keeps the pack itself, unsanitised, in registers;
//   3. permits the dependents; CTA barrier; the CTA's first thread counts the CTA;
//   4. cleans: all threads of the grid store the sentinel over the stage to clean;
//   5. collects: polls the slots of all sources in their order, except that the own pack comes from
//      the registers (SelfSlot::kRegister); nothing is reset here;
//   6. the grid's first thread waits until all CTAs have been counted, notes the size that this
//      stage was used with, advances the epoch and clears the count.
//
// The epoch is never taken modulo the stages: when it wraps at 2^32 a stage is used twice in a row.
//
// REQUIRES: as kernels/lamport/protocol.h, with a state of its own; besides, places for all CTAs of
// the grid at once, since the first one keeps its place until all others have come.
#pragma once

#include <cstdint>

#include "kernels/known_bad/layout.h"
#include "kernels/known_bad/variants.h"
#include "kernels/lamport/gather_options.h"
#include "kernels/lamport/protocol.h"
#include "kernels/machine/annotations.h"
#include "kernels/machine/machine.h"

namespace mailbench {

struct MnnvlArgs {
  const Pack* input = nullptr;  // [packs]
  Pack* output = nullptr;       // [ranks][packs]
  std::int64_t packs = 0;       // of one rank's input; 1 to mailbox.layout.rank_packs
  MnnvlState* state = nullptr;
  MailboxView mailbox;
};

// Step 1's result, the same in every thread of the grid.
struct MnnvlStages {
  std::uint32_t epoch;
  std::uint32_t current;
  std::uint32_t dirty;
  std::int64_t dirty_packs;  // a rank
};

template <class Rules, Machine M>
MAILBENCH_DEVICE MnnvlStages ReadStages(M& m, const MnnvlState* state) {
  constexpr std::uint32_t kAhead = Rules::kCleaned == CleanedStage::kNext ? 1 : 2;
  MnnvlStages stages;
  stages.epoch = m.load_volatile_u32(&state->epoch);
  stages.current = stages.epoch % kGenerations;
  stages.dirty = (stages.current + kAhead) % kGenerations;
  stages.dirty_packs = m.load_volatile_u32(&state->packs[stages.dirty]);
  return stages;
}

// Step 2.
template <class Rules, Publish kPublish, Machine M>
MAILBENCH_DEVICE void MnnvlPublish(M& m, const MailboxView& mailbox, std::int64_t slot, Pack pack) {
  if constexpr (Rules::kStore == PublishStore::kRelaxed) {
    PublishPack<kPublish>(m, mailbox, slot, pack);
  } else if constexpr (kPublish == Publish::kMulticast) {
    m.multimem_store_weak_v4_f32(mailbox.multicast, slot, pack);
  } else {
    for (int peer = 0; peer < mailbox.layout.ranks; ++peer) {
      m.store_v4(mailbox.peers[peer] + slot, pack);
    }
  }
}

// Step 4: a grid-stride loop over all sources' packs.
template <class Rules, Machine M>
MAILBENCH_DEVICE void CleanStage(M& m, const MailboxView& mailbox, const MnnvlStages& stages) {
  const std::int64_t count = mailbox.layout.ranks * stages.dirty_packs;
  const std::int64_t step = static_cast<std::int64_t>(m.grid_size()) * m.cta_size();
  for (std::int64_t i = OwnPack(m); i < count; i += step) {
    const int source = static_cast<int>(i / stages.dirty_packs);
    const std::int64_t slot = MnnvlSlot<Rules::kStride>(
        mailbox.layout, stages.dirty, stages.dirty_packs, source, i % stages.dirty_packs);
    m.store_v4(mailbox.local + slot, Pack{{kSentinel, kSentinel, kSentinel, kSentinel}});
  }
}

// Step 5 for one source. False: the run is being given up.
template <class Rules, Machine M>
MAILBENCH_DEVICE bool CollectSource(M& m, const MnnvlArgs& args, std::uint32_t stage, int source,
                                    std::int64_t pack) {
  const Pack* slot = args.mailbox.local + MnnvlSlot<Rules::kStride>(args.mailbox.layout, stage,
                                                                    args.packs, source, pack);
  Pack value;
  while (true) {
    value = m.load_volatile_v4(slot);
    const int missing = SentinelWord<Faithful>(value);
    if (missing < 0) break;
    if (!m.poll_again({&slot->word[missing], kSentinel, stage, source, pack})) return false;
  }
  m.store_v4(args.output + source * args.packs + pack, value);
  return true;
}

// Step 5. `own`: what the thread read from its input.
template <class Rules, Machine M>
MAILBENCH_DEVICE bool MnnvlCollect(M& m, const MnnvlArgs& args, std::uint32_t stage,
                                   std::int64_t pack, const Pack& own) {
  const int rank = args.mailbox.rank;
  for (int source = 0; source < args.mailbox.layout.ranks; ++source) {
    if (Rules::kSelf == SelfSlot::kRegister && source == rank) continue;
    if (!CollectSource<Rules>(m, args, stage, source, pack)) return false;
  }
  if (Rules::kSelf == SelfSlot::kRegister) m.store_v4(args.output + rank * args.packs + pack, own);
  return true;
}

// Step 6, by one thread of the grid.
template <Machine M>
MAILBENCH_DEVICE void EndCall(M& m, const MnnvlArgs& args, const MnnvlStages& stages) {
  MnnvlState* const state = args.state;
  while (true) {
    const std::uint32_t arrived = m.load_volatile_u32(&state->arrivals);
    if (arrived == static_cast<std::uint32_t>(m.grid_size())) break;
    if (!m.poll_again({&state->arrivals, arrived, stages.current, args.mailbox.rank, 0})) return;
  }
  m.store_u32(&state->packs[stages.current], static_cast<std::uint32_t>(args.packs));
  m.store_u32(&state->epoch, stages.epoch + 1);
  m.store_u32(&state->arrivals, 0);
}

template <class Rules, Publish kPublish, Machine M>
MAILBENCH_DEVICE void MnnvlAllGather(M& m, const MnnvlArgs& args) {
  const MailboxView& mailbox = args.mailbox;
  const std::int64_t pack = OwnPack(m);
  const bool active = pack < args.packs;

  m.grid_dependency_wait();
  const MnnvlStages stages = ReadStages<Rules>(m, args.state);
  Pack own{};
  if (active) {
    own = m.load_v4(args.input + pack);
    MnnvlPublish<Rules, kPublish>(
        m, mailbox,
        MnnvlSlot<Rules::kStride>(mailbox.layout, stages.current, args.packs, mailbox.rank, pack),
        Sanitised<Faithful>(own));
  }
  m.grid_launch_dependents();
  m.cta_barrier();
  if (m.thread_index() == 0) m.reduce_add_release_gpu(&args.state->arrivals, 1);
  CleanStage<Rules>(m, mailbox, stages);
  if (active && !MnnvlCollect<Rules>(m, args, stages.current, pack, own)) return;
  if (pack == 0) EndCall(m, args, stages);
}

}  // namespace mailbench
