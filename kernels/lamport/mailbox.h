// A mailbox seen from outside: armed before the first call, searched for what calls left behind,
// asked what a call that does not end is waiting for.
#pragma once

#include <cstdint>
#include <span>
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

// Packs of the calls that may run: the fewest and the most that any of them has.
struct PackRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// A generation in which payload waits to be collected.
struct StalledGeneration {
  std::uint32_t generation;
  // Of its call: all of them, or, where calls differ, as many as are known of.
  std::int64_t packs;
  std::vector<MissingSource> missing;  // ascending
  // Slots of one pack each, of whatever source, that hold no payload and may have been collected.
  std::int64_t undecided;
};

struct MailboxDiagnosis {
  bool same_size = true;                       // calls do not differ in their packs
  std::vector<StalledGeneration> generations;  // usually one, or the running call's and the next's
};

// What the running call waits for, from a copy of one rank's mailbox. A pack is missing when it has
// not arrived whole, although some of it, or another source's, has. A thread collects and resets
// its pack batch of sources by batch, so a slot without payload counts as missing only where a
// source of its batch or an earlier one has payload there: that batch has not been collected, nor
// have those after it. A second generation shows where peers have begun the next call already.
// REQUIRES: packs.most <= layout.rank_packs; `poll_batch` is the calls' (PlanAllGather). What is
// said to be missing may have been collected, unless the copy was taken after the call was given up
// on this rank, or while all its threads polled in vain.
MailboxDiagnosis DiagnoseMailbox(const Pack* mailbox, const MailboxLayout& layout,
                                 const PackRange& packs, int poll_batch);

// "generation 2: slots of rank 3 are still sentinel (64 of 64 packs)"; with several ranks
// "generation 2: slots of ranks 3 (64 of 64 packs) and 5 (1 of 64 packs) are still sentinel"; where
// calls differ "(1 of 64 packs or more)". Generations are separated by "; ".
std::string Describe(const MailboxDiagnosis& diagnosis);

struct RankMailbox {
  int rank = 0;
  MailboxDiagnosis diagnosis;
};

// Whom the ranks wait for, from what was seen of the mailboxes of some of them: of the oldest call
// that anything waits for, lines without the last one's end:
// "rank 1's mailbox, generation 2: slots of rank 3 are still sentinel (64 of 64 packs)".
// A rank is believed to be waited for when its own mailbox holds payload of that call, too (it else
// has collected all of it), or was not seen; and ranks that others wait for are not asked for whom
// they wait, since they may have stopped anywhere. Where nobody is waited for the ranks are named
// that have not collected what has arrived.
std::string DescribeWait(std::span<const RankMailbox> mailboxes);

}  // namespace mailbench
