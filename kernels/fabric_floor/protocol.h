// What no collective of one kernel a call can be faster than: the kernels whose times are the floor
// of a fabric. One CTA each; F1 to F3 say why they neither hang nor see too much.
//
// F1. A counter has one writer, and its words never go back: it is written once a round, in the
//     order of the rounds (one thread stores, and stores of one thread to one word stay in order).
// F2. A rank writes round n only after it has seen every word that it awaits of round n - 1, so no
//     counter is more than one round ahead of any rank: a poll for "at least n" sees n or n + 1.
// F3. Counters go on from call to call and are never reset: nothing has to be armed between calls.
#pragma once

#include <cstdint>

#include "kernels/fabric_floor/layout.h"
#include "kernels/machine/machine.h"

namespace mailbench {

// Threads of the CTA: one a rank, in whole warps.
MAILBENCH_HOST_DEVICE int FloorThreads(int ranks) { return (ranks + 31) / 32 * 32; }

// Awaits the whole pack, each word of which may be old or new on its own. False when the run is
// given up. Counters wrap: only their distance counts.
template <Machine M>
MAILBENCH_DEVICE bool AwaitCounter(M& m, const Pack* counter, std::uint32_t round, int source) {
  while (true) {
    const Pack seen = m.load_volatile_v4(counter);
    int late = kPackWords;
    MAILBENCH_UNROLL
    for (int i = kPackWords - 1; i >= 0; --i) {
      if (static_cast<std::int32_t>(seen.word[i] - round) < 0) late = i;
    }
    if (late == kPackWords) return true;
    PollSite site;
    site.word = &counter->word[late];
    site.seen = seen.word[late];
    site.source = source;
    if (!m.poll_again(site)) return false;
  }
}

MAILBENCH_HOST_DEVICE Pack CounterPack(std::uint32_t round) {
  return {{round, round, round, round}};
}

template <Machine M>
MAILBENCH_DEVICE void FloorEmptyKernel(M& m) {
  m.grid_dependency_wait();
  m.grid_launch_dependents();
}

// The lower rank of a pair begins. REQUIRES: one thread is enough; others do nothing.
template <Machine M>
MAILBENCH_DEVICE void FloorHop(M& m, const FloorArgs& args) {
  FloorEmptyKernel(m);
  const int partner = FloorPartner(args.rank, args.layout.ranks);
  if (m.thread_index() != 0) return;
  const std::uint32_t before = m.load_volatile_u32(&args.state->hops);
  Pack* const to = args.peers[partner] + args.layout.Counter(FloorKind::kHop, args.rank);
  const Pack* const from = args.local + args.layout.Counter(FloorKind::kHop, partner);
  const bool begins = args.rank <= partner;
  for (std::uint32_t i = 1; i <= args.rounds; ++i) {
    const std::uint32_t round = before + i;
    if (begins) m.store_relaxed_sys_v4(to, CounterPack(round));
    if (!AwaitCounter(m, from, round, partner)) return;
    if (!begins) m.store_relaxed_sys_v4(to, CounterPack(round));
  }
  m.store_u32(&args.state->hops, before + args.rounds);
}

// Thread t publishes to rank t, or the first one to all at once, and awaits rank t.
template <Machine M, bool kMulticast>
MAILBENCH_DEVICE void FloorPublishToAll(M& m, const FloorArgs& args) {
  FloorEmptyKernel(m);
  const int thread = m.thread_index();
  const bool has_rank = thread < args.layout.ranks;
  const std::uint32_t before = m.load_volatile_u32(&args.state->publishes);
  const std::int64_t own = args.layout.Counter(FloorKind::kPublishToAll, args.rank);
  const Pack* const from =
      args.local + args.layout.Counter(FloorKind::kPublishToAll, has_rank ? thread : args.rank);
  bool goes_on = true;
  for (std::uint32_t i = 1; i <= args.rounds; ++i) {
    const Pack counter = CounterPack(before + i);
    if constexpr (kMulticast) {
      if (thread == 0) m.multimem_store_relaxed_sys_v4_f32(args.multicast, own, counter);
    } else if (has_rank) {
      m.store_relaxed_sys_v4(args.peers[thread] + own, counter);
    }
    if (has_rank && goes_on) goes_on = AwaitCounter(m, from, before + i, thread);
    m.cta_barrier();  // F2
  }
  if (thread == 0) m.store_u32(&args.state->publishes, before + args.rounds);
}

}  // namespace mailbench
