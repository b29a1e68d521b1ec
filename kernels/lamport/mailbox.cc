#include "kernels/lamport/mailbox.h"

#include <algorithm>

namespace mailbench {

void ArmMailbox(Pack* mailbox, const MailboxLayout& layout) {
  std::fill_n(mailbox, layout.packs(), Pack{{kSentinel, kSentinel, kSentinel, kSentinel}});
}

MailboxAudit AuditMailbox(const Pack* mailbox, const MailboxLayout& layout) {
  MailboxAudit audit;
  for (std::uint32_t generation = 0; generation < kGenerations; ++generation) {
    for (int source = 0; source < layout.ranks; ++source) {
      for (std::int64_t pack = 0; pack < layout.rank_packs; ++pack) {
        const Pack& slot = mailbox[layout.Slot(generation, source, pack)];
        for (int word = 0; word < kPackWords; ++word) {
          ++audit.words;
          if (slot.word[word] == kSentinel) continue;
          if (audit.leftover++ == 0) {
            audit.first = {generation, source, pack, word, slot.word[word]};
          }
        }
      }
    }
  }
  return audit;
}

}  // namespace mailbench
