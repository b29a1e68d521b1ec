// A mailbox seen from outside: armed before the first call, searched for what calls left behind,
// asked what a call that does not end is waiting for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// A source some of whose packs are still awaited.
struct MissingSource {
  int source;
  std::int64_t packs;  // how many, at least
};

// A generation in which payload waits to be collected.
struct StalledGeneration {
  std::uint32_t generation;
  std::vector<MissingSource> missing;  // ascending
  // Slots of one pack each, of whatever source, that hold no payload and may have been collected.
  std::int64_t undecided;
};

struct MailboxDiagnosis {
  std::int64_t packs = 0;                      // of the call
  std::vector<StalledGeneration> generations;  // usually one, or the running call's and the next's
};

// What the running call of `packs` packs a rank waits for, from a copy of one rank's mailbox. A
// pack is missing when it has not arrived whole. A thread collects and resets its pack batch of
// sources by batch, so a slot without payload counts as missing only where a source of its batch or
// an earlier one has payload there: that batch has not been collected, nor have those after it. A
// second generation shows where peers have begun the next call already.
// REQUIRES: packs <= layout.rank_packs; `poll_batch` is the call's (PlanAllGather); the copy was
// taken after the call was given up on this rank, or while all its threads polled in vain.
MailboxDiagnosis DiagnoseMailbox(const Pack* mailbox, const MailboxLayout& layout,
                                 std::int64_t packs, int poll_batch);

// "generation 2: slots of rank 3 are still sentinel (64 of 64 packs)"; with several ranks
// "generation 2: slots of ranks 3 (64 of 64 packs) and 5 (1 of 64 packs) are still sentinel".
// Generations are separated by "; ".
std::string Describe(const MailboxDiagnosis& diagnosis);

}  // namespace mailbench
