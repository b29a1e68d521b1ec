// A toy all-gather without multicast: one thread of a call does everything.
#pragma once

#include "kernels/lamport/protocol.h"

namespace mailbench {

template <Machine M>
MAILBENCH_DEVICE void ToyAllGather(M& m, const AllGatherArgs& args) {
  m.grid_dependency_wait();
  m.grid_launch_dependents();
  if (m.cta_index() > 0 || m.thread_index() > 0) return;
  const MailboxView& mailbox = args.mailbox;
  const std::uint32_t generation = 0;
  for (std::int64_t pack = 0; pack < args.packs; ++pack) {
    const Pack own = Sanitised<Faithful>(m.load_v4(args.input + pack));
    const std::int64_t slot = mailbox.layout.Slot(generation, mailbox.rank, pack);
    PublishPack<Publish::kUnicast>(m, mailbox, slot, own);
  }
  for (std::int64_t i = 0; i < args.packs * mailbox.layout.ranks; ++i) {
    const int source = static_cast<int>(i / args.packs);
    const std::int64_t pack = i % args.packs;
    Pack* const slot = mailbox.local + mailbox.layout.Slot(generation, source, pack);
    Pack value = m.load_volatile_v4(slot);
    for (int word = 0; (word = SentinelWord<Faithful>(value)) >= 0;) {
      if (!m.poll_again({&slot->word[word], kSentinel, generation, source, pack})) return;
      value = m.load_volatile_v4(slot);
    }
    m.store_v4(args.output + i, value);
    m.store_v4(slot, {{kSentinel, kSentinel, kSentinel, kSentinel}});
  }
}

}  // namespace mailbench
