// The overlapped all-gather: the same mailbox, state and result as protocol.h's, sooner. There a
// pack is published only once its CTA has read the generation and been counted; here that happens
// in the shadow of the poll.
//
// One thread a 16-byte pack of the rank's input. A call
//   1. loads the generation beside the input pack, both in flight, in every thread that has a pack;
//   2. publishes the pack at once, as protocol.h does;
//   3. passes the CTA barrier; then the CTA's first thread counts the CTA and goes on without
//      looking at the count;
//   4. collects, as protocol.h does;
//   5. and only now the first thread looks: that of the CTA that arrived last advances the
//      generation.
//
// A thread without a pack takes part in the barrier and needs no generation. The first thread of a
// CTA has a pack always, since PlanAllGather launches no CTA without any.
//
// Invariants: L1 to L9 of protocol.h. Why the count may be relaxed: kernels/PROTOCOLS.md,
// "Overlapped". REQUIRES: as protocol.h. Calls of both kinds may alternate.
#pragma once

#include <cstdint>

#include "kernels/lamport/protocol.h"

namespace mailbench {

template <Publish kPublish, int kBatch, Arrival kArrival, Trigger kTrigger, class Rules = Faithful,
          Machine M>
MAILBENCH_DEVICE void OverlappedAllGather(M& m, const AllGatherArgs& args) {
  const std::int64_t pack = OwnPack(m);
  const bool active = pack < args.packs;

  std::uint32_t generation = 0;
  if constexpr (Rules::kReadsGenerationBeforeWait) {
    generation = m.load_volatile_u32(&args.state->generation);
  }
  if constexpr (Rules::kWaits) m.grid_dependency_wait();  // L8
  m.mark(TraceEvent::kStart);
  if constexpr (kTrigger == Trigger::kAfterWait) m.grid_launch_dependents();
  Pack own{};
  if (active) {
    if constexpr (!Rules::kReadsGenerationBeforeWait) {
      generation = m.load_volatile_u32(&args.state->generation);
    }
    const Pack input = m.load_v4(args.input + pack);
    own = Sanitised<Rules>(input);
    PublishPack<kPublish, Rules>(m, args.mailbox,
                                 SlotOf<Rules>(args, generation, args.mailbox.rank, pack), own);
    m.mark(TraceEvent::kPublished);
  }
  if constexpr (kTrigger == Trigger::kAfterPublish) m.grid_launch_dependents();
  if constexpr (Rules::kBarrierBeforeArrival) m.cta_barrier();  // L9
  if (!active) return;

  std::uint32_t arrived_before = 0;
  if (m.thread_index() == 0) arrived_before = CountArrival<kArrival>(m, args.state);
  // A thread that gives up leaves the generation: the call has not been finished.
  if (!Collect<kBatch, Rules>(m, args, generation, pack, own)) return;
  // With a name: nvcc would else carry Collect's result along through its loop.
  const bool last = ArrivedLast<Rules>(m, arrived_before);
  if (m.thread_index() == 0 && last) {
    AdvanceGeneration<Rules>(m, args.state, generation);
  }
  m.mark(TraceEvent::kDone);
}

}  // namespace mailbench
