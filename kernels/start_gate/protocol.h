// The start gate: ranks wait, each at a latch in its own memory, until one of them releases all.
//
// One rank stores the generation into every rank's latch; each rank polls its own one, so that no
// poll crosses a link. Releases of one generation reach ranks at most one store's way apart.
//
// Invariants
//   G1  A latch holds the newest generation that was released. Generations go up by 1, from 1.
//   G2  A generation is released only when every rank has passed the one before: a latch that is
//       waited at for a generation never holds a later one.
//
// REQUIRES: one rank releases, and for G2 the ranks meet (outside of this protocol) between a
// rank's passing a generation and the release of the next one.
#pragma once

#include <cstdint>

#include "kernels/machine/annotations.h"
#include "kernels/machine/machine.h"
#include "kernels/start_gate/layout.h"

namespace mailbench {

// By one thread. Returns when the generation was released or the run is being given up; what
// follows on the stream follows the release.
template <Machine M>
MAILBENCH_DEVICE void AwaitRelease(M& m, const Latch* own, std::uint32_t generation) {
  const std::uint32_t* const word = &own->released.word[0];
  for (std::uint32_t seen = 0; (seen = m.load_volatile_u32(word)) != generation;) {
    if (!m.poll_again({word, seen, generation, 0, 0})) return;
  }
}

// By the threads of one CTA, which take turns on the ranks.
template <Machine M>
MAILBENCH_DEVICE void Release(M& m, const StartGateView& gate, std::uint32_t generation) {
  const Pack released{{generation, generation, generation, generation}};
  for (int rank = m.thread_index(); rank < gate.ranks; rank += m.cta_size()) {
    m.store_relaxed_sys_v4(&gate.latches[rank]->released, released);
  }
}

}  // namespace mailbench
