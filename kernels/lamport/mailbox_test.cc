#include "kernels/lamport/mailbox.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "kernels/lamport/thread_ranks.h"

namespace mailbench {
namespace {

TEST(AuditMailbox, TellsWhereTheFirstLeftoverWordLies) {
  ThreadRanks fabric(2, 3);
  const MailboxView view = fabric.View(1);
  MailboxAudit audit = AuditMailbox(view.local, view.layout);
  EXPECT_EQ(audit.words, 3u * 2u * 3u * 4u);
  EXPECT_EQ(audit.leftover, 0u);
  view.local[view.layout.Slot(2, 1, 0)].word[3] = 42;
  view.local[view.layout.Slot(2, 1, 2)].word[0] = 43;
  audit = AuditMailbox(view.local, view.layout);
  EXPECT_EQ(audit.leftover, 2u);
  EXPECT_EQ(audit.first.generation, 2u);
  EXPECT_EQ(audit.first.source, 1);
  EXPECT_EQ(audit.first.pack, 0);
  EXPECT_EQ(audit.first.word, 3);
  EXPECT_EQ(audit.first.value, 42u);
}

// A mailbox made by hand: what has arrived and has not been collected.
class HandMade {
 public:
  HandMade(int ranks, std::int64_t packs)
      : layout_{ranks, packs + 3}, mailbox_(static_cast<std::size_t>(layout_.packs())) {
    packs_ = packs;
    ArmMailbox(mailbox_.data(), layout_);
  }

  Pack& Slot(std::uint32_t generation, int source, std::int64_t pack) {
    return mailbox_[static_cast<std::size_t>(layout_.Slot(generation, source, pack))];
  }
  void Arrive(std::uint32_t generation, int source, std::int64_t pack) {
    Slot(generation, source, pack) = {{1, 2, 3, 4}};
  }
  void ArriveAll(std::uint32_t generation, std::initializer_list<int> sources) {
    for (const int source : sources) {
      for (std::int64_t pack = 0; pack < packs_; ++pack) Arrive(generation, source, pack);
    }
  }

  MailboxDiagnosis Diagnose(int poll_batch) const {
    return DiagnoseMailbox(mailbox_.data(), layout_, {packs_, packs_}, poll_batch);
  }
  // As one of calls of from `least` packs on.
  MailboxDiagnosis DiagnoseFrom(std::int64_t least) const {
    return DiagnoseMailbox(mailbox_.data(), layout_, {least, packs_}, 8);
  }
  std::string Describe(int poll_batch) const { return mailbench::Describe(Diagnose(poll_batch)); }

 private:
  MailboxLayout layout_;
  std::int64_t packs_ = 0;
  std::vector<Pack> mailbox_;
};

TEST(DiagnoseMailbox, NamesTheRankThatNeverPublished) {
  HandMade mailbox(4, 64);
  mailbox.ArriveAll(2, {0, 1, 2});
  EXPECT_EQ(mailbox.Describe(4),
            "generation 2: slots of rank 3 are still sentinel (64 of 64 packs)");
}

TEST(DiagnoseMailbox, NamesSeveralRanks) {
  HandMade mailbox(6, 64);
  mailbox.ArriveAll(0, {0, 1, 5});
  for (std::int64_t pack = 1; pack < 64; ++pack) mailbox.Arrive(0, 3, pack);
  EXPECT_EQ(mailbox.Describe(8),
            "generation 0: slots of ranks 2 (64 of 64 packs), 3 (1 of 64 packs) and 4 (64 of 64 "
            "packs) are still sentinel");
}

// Every thread but one has finished: only its pack tells anything.
TEST(DiagnoseMailbox, LeavesPacksOfWhichNothingIsThereUndecided) {
  HandMade mailbox(2, 64);
  mailbox.Arrive(1, 0, 10);
  const MailboxDiagnosis diagnosis = mailbox.Diagnose(2);
  ASSERT_EQ(diagnosis.generations.size(), 1u);
  EXPECT_EQ(diagnosis.generations[0].undecided, 63 * 2);
  EXPECT_EQ(Describe(diagnosis),
            "generation 1: slots of rank 1 are still sentinel (1 of 64 packs)");
}

TEST(DiagnoseMailbox, APackThatArrivedInPartIsMissing) {
  HandMade mailbox(2, 1);
  mailbox.Slot(0, 1, 0).word[2] = 7;
  EXPECT_EQ(
      mailbox.Describe(2),
      "generation 0: slots of ranks 0 (1 of 1 packs) and 1 (1 of 1 packs) are still sentinel");
}

// Ranks 0 to 3 are the first batch: it may have been collected, and the second has been waited for
// since. Rank 9, of the third, cannot have been collected before rank 6.
TEST(DiagnoseMailbox, CountsNothingInBatchesThatMayHaveBeenCollected) {
  HandMade mailbox(10, 5);
  mailbox.ArriveAll(1, {4, 5, 7, 8});
  const MailboxDiagnosis diagnosis = mailbox.Diagnose(4);
  ASSERT_EQ(diagnosis.generations.size(), 1u);
  EXPECT_EQ(diagnosis.generations[0].undecided, 5 * 4);
  EXPECT_EQ(
      Describe(diagnosis),
      "generation 1: slots of ranks 6 (5 of 5 packs) and 9 (5 of 5 packs) are still sentinel");
}

TEST(DiagnoseMailbox, DecidesEveryBatchFromTheFirstThatShowsPayload) {
  HandMade mailbox(10, 1);
  mailbox.Arrive(1, 0, 0);
  EXPECT_EQ(mailbox.Diagnose(4).generations[0].missing.size(), 9u);
  EXPECT_EQ(mailbox.Diagnose(4).generations[0].undecided, 0);
}

TEST(DiagnoseMailbox, ShowsPeersThatAreACallAhead) {
  HandMade mailbox(3, 2);
  mailbox.ArriveAll(2, {0, 2});
  mailbox.ArriveAll(0, {2});
  EXPECT_EQ(
      mailbox.Describe(4),
      "generation 2: slots of rank 1 are still sentinel (2 of 2 packs); generation 0: slots of "
      "ranks 0 (2 of 2 packs) and 1 (2 of 2 packs) are still sentinel");
}

TEST(DiagnoseMailbox, LooksAtThePacksOfTheCallOnly) {
  HandMade mailbox(2, 2);
  mailbox.Arrive(0, 0, 2);  // beyond them
  EXPECT_TRUE(mailbox.Diagnose(2).generations.empty());
}

TEST(DiagnoseMailbox, SaysWhenNothingIsToBeSeen) {
  HandMade mailbox(2, 2);
  EXPECT_EQ(mailbox.Describe(2),
            "no slot holds payload: nothing has arrived, or all that has arrived was collected");
  mailbox.ArriveAll(0, {0, 1});
  EXPECT_EQ(mailbox.Describe(2), "generation 0: every pack has arrived");
}

TEST(DiagnoseMailbox, SaysWhenNothingIsKnownToBeMissing) {
  HandMade mailbox(4, 1);
  mailbox.ArriveAll(0, {2, 3});
  EXPECT_EQ(mailbox.Describe(2),
            "generation 0: nothing is known to be missing; 2 slots may have been collected");
}

TEST(DiagnoseMailbox, LooksBeyondThePacksThatEveryCallHas) {
  HandMade mailbox(2, 64);
  mailbox.Arrive(1, 0, 40);
  EXPECT_EQ(Describe(mailbox.DiagnoseFrom(1)),
            "generation 1: slots of rank 1 are still sentinel (1 of 41 packs or more)");
  mailbox.Arrive(1, 1, 40);
  EXPECT_EQ(Describe(mailbox.DiagnoseFrom(1)),
            "generation 1: nothing is known to be missing; 2 slots may have been collected");
}

// The mailboxes of all ranks, made by hand.
class HandMades {
 public:
  HandMades(int ranks, std::int64_t packs) {
    for (int rank = 0; rank < ranks; ++rank) mailboxes_.emplace_back(ranks, packs);
  }
  HandMade& operator[](std::size_t rank) { return mailboxes_[rank]; }
  // As seen from rank `first`, of the mailboxes of `seen` ranks.
  std::string DescribeWait(std::size_t first, std::size_t seen) const {
    std::vector<RankMailbox> looked_at;
    for (std::size_t i = 0; i < seen; ++i) {
      const std::size_t rank = (first + i) % mailboxes_.size();
      looked_at.push_back({static_cast<int>(rank), mailboxes_[rank].DiagnoseFrom(1)});
    }
    return mailbench::DescribeWait(looked_at);
  }

 private:
  std::vector<HandMade> mailboxes_;
};

// Rank 2 stopped while it published: its words have reached ranks 0 and 3, which wait for it in the
// next call, but rank 1 only in part.
HandMades StoppedInTheMiddle() {
  HandMades ranks(4, 2);
  for (const std::size_t ahead : {0u, 3u}) ranks[ahead].ArriveAll(0, {0, 3});
  ranks[1].ArriveAll(0, {0, 3});
  ranks[2].ArriveAll(0, {0, 3});
  for (const int source : {0, 1, 3}) ranks[1].Arrive(2, source, 1);
  ranks[2].ArriveAll(2, {0, 1, 2, 3});
  return ranks;
}

TEST(DescribeWait, BlamesNoRankThatItselfWaitsInTheOldestCall) {
  HandMades ranks = StoppedInTheMiddle();
  const std::string blamed =
      "rank 1's mailbox, generation 2: slots of rank 2 are still sentinel (1 of 2 packs or more)";
  for (std::size_t first = 0; first < 4; ++first) EXPECT_EQ(ranks.DescribeWait(first, 4), blamed);
  // It stopped in the middle of a reset, too: rank 0 has collected all of the call. What is missing
  // from rank 1 may have been reset or may never have come.
  const Pack empty{{kSentinel, kSentinel, kSentinel, kSentinel}};
  ranks[2].Slot(2, 0, 1) = empty;
  for (std::size_t first = 0; first < 4; ++first) EXPECT_EQ(ranks.DescribeWait(first, 4), blamed);
  ranks[2].Slot(2, 1, 1) = empty;
  EXPECT_EQ(ranks.DescribeWait(0, 4),
            blamed +
                "\nrank 2's mailbox, generation 2: slots of rank 1 are still sentinel (1 of 2 "
                "packs or more)");
}

TEST(DescribeWait, BelievesRanksThatNobodyWaitsFor) {
  HandMades ranks(3, 1);
  for (std::size_t rank = 0; rank < 3; ++rank) ranks[rank].ArriveAll(1, {0, 1, 2});
  const Pack empty{{kSentinel, kSentinel, kSentinel, kSentinel}};
  // Rank 1, whose words have reached neither rank 0 nor rank 2, stopped in the middle of a reset.
  ranks[0].Slot(1, 1, 0) = ranks[2].Slot(1, 1, 0) = ranks[1].Slot(1, 0, 0) = empty;
  EXPECT_EQ(ranks.DescribeWait(0, 3),
            "rank 2's mailbox, generation 1: slots of rank 1 are still sentinel (1 of 1 packs)");
}

TEST(DescribeWait, SaysWhatOneMailboxShowsWhereNoOtherWasSeen) {
  EXPECT_EQ(StoppedInTheMiddle().DescribeWait(3, 1),
            "rank 3's mailbox, generation 0: slots of ranks 1 (2 of 2 packs or more) and 2 (2 of 2 "
            "packs or more) are still sentinel");
}

TEST(DescribeWait, BlamesARankThatHasNotCollectedWhatHasArrived) {
  HandMades ranks(3, 2);
  ranks[1].ArriveAll(1, {0, 1, 2});
  EXPECT_EQ(ranks.DescribeWait(0, 3),
            "rank 1's mailbox, generation 1: every pack has arrived, and was not collected");
  // In the middle of a reset. The others have collected all of the call.
  ranks[1].Slot(1, 0, 1) = {{kSentinel, kSentinel, kSentinel, kSentinel}};
  EXPECT_EQ(ranks.DescribeWait(0, 3),
            "rank 1's mailbox, generation 1: every pack has arrived, and was not collected");
}

TEST(DescribeWait, TellsOfEachThatRanksWaitForByThemselves) {
  HandMades ranks(4, 1);
  for (std::size_t rank = 0; rank < 4; ++rank) ranks[rank].ArriveAll(0, {0, 1, 2, 3});
  const Pack empty{{kSentinel, kSentinel, kSentinel, kSentinel}};
  ranks[0].Slot(0, 2, 0) = empty;
  ranks[1].Slot(0, 3, 0) = empty;
  EXPECT_EQ(ranks.DescribeWait(0, 4),
            "rank 0's mailbox, generation 0: slots of rank 2 are still sentinel (1 of 1 packs)\n"
            "rank 1's mailbox, generation 0: slots of rank 3 are still sentinel (1 of 1 packs)");
}

TEST(DescribeWait, TakesTwoGenerationsForNeighbours) {
  HandMades ranks(2, 1);
  ranks[0].ArriveAll(0, {0});
  ranks[1].ArriveAll(0, {0});
  ranks[1].ArriveAll(2, {0, 1});
  EXPECT_EQ(ranks.DescribeWait(0, 2),
            "rank 1's mailbox, generation 2: every pack has arrived, and was not collected");
}

TEST(DescribeWait, SaysWhenNothingIsToBeSeen) {
  const HandMades ranks(2, 1);
  EXPECT_EQ(ranks.DescribeWait(1, 1), "rank 1's mailbox holds no payload: no call waits there");
  EXPECT_EQ(ranks.DescribeWait(0, 2), "no mailbox holds payload: no call waits there");
  EXPECT_EQ(ranks.DescribeWait(0, 0), "");
}

TEST(DescribeWait, SaysAllThatIsSeenWhereItCannotBe) {
  HandMades ranks(2, 1);
  for (const std::uint32_t generation : {0u, 1u, 2u}) ranks[1].ArriveAll(generation, {0, 1});
  EXPECT_EQ(ranks.DescribeWait(0, 2),
            "rank 1's mailbox, generation 0: every pack has arrived; generation 1: every pack has "
            "arrived; generation 2: every pack has arrived");
}

}  // namespace
}  // namespace mailbench
