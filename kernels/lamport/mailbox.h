// A mailbox between calls: armed before the first one, searched for what calls left behind.
#pragma once

#include <cstdint>

#include "kernels/lamport/layout.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// Fills a mailbox with sentinels.
void ArmMailbox(Pack* mailbox, const MailboxLayout& layout);

// A word that is not the sentinel between calls: L1 broken.
struct LeftoverWord {
  std::uint32_t generation;
  int source;
  std::int64_t pack;
  int word;
  std::uint32_t value;
};

struct MailboxAudit {
  std::uint64_t words = 0;     // looked at: all of the mailbox
  std::uint64_t leftover = 0;  // not the sentinel
  LeftoverWord first{};        // when leftover > 0
};

// REQUIRES: no call is in flight on any rank.
MailboxAudit AuditMailbox(const Pack* mailbox, const MailboxLayout& layout);

}  // namespace mailbench
