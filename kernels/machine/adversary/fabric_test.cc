// The rules of the fabric, one by one.
#include "kernels/machine/adversary/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace mailbench {
namespace {

constexpr std::uint32_t kInitial = 7;

// A fabric of one mailbox a rank, and threads: two of CTA 0, one of CTA 1, one of a peer.
class FabricTest : public testing::Test {
 protected:
  static constexpr Writer kFirst{.rank = 0, .launch = 0, .cta = 0, .thread = 0};
  static constexpr Writer kMate{.rank = 0, .launch = 0, .cta = 0, .thread = 1};
  static constexpr Writer kOtherCta{.rank = 0, .launch = 0, .cta = 1, .thread = 2};
  static constexpr Writer kPeer{.rank = 1, .launch = 1, .cta = 0, .thread = 3};
  static constexpr Writer kNextLaunch{.rank = 0, .launch = 2, .cta = 0, .thread = 4};

  Fabric& Make(const WorldRules& rules = {}, bool one_shot = false) {
    fabric_ = std::make_unique<Fabric>(rules);
    fabric_->on_change = [this](const std::uint32_t* word) { changed_.push_back(word); };
    for (int rank = 0; rank < 2; ++rank) {
      Fabric::Memory memory;
      memory.rank = rank;
      memory.name = "mailbox";
      memory.initial = kInitial;
      memory.mailbox = true;
      memory.one_shot = one_shot;
      mailbox_[rank] = fabric_->Add(std::move(memory), 4);
    }
    fabric_->Reset();
    return *fabric_;
  }
  // Lands the only word that may.
  void LandTheOnly() {
    ASSERT_EQ(fabric_->landable().size(), 1u);
    fabric_->Land(0);
  }
  std::string Found(Property property) {
    if (!fabric_->violation) return "nothing";
    return fabric_->violation->property == property ? fabric_->violation->text
                                                    : ToString(fabric_->violation->property);
  }

  std::unique_ptr<Fabric> fabric_;
  std::uint32_t* mailbox_[2] = {};
  std::vector<const std::uint32_t*> changed_;
};

TEST_F(FabricTest, AThreadSeesWhatItHasStoredNobodyElseDoes) {
  Fabric& fabric = Make();
  fabric.StorePlain(kFirst, mailbox_[0], 1);
  EXPECT_EQ(fabric.Load(kFirst, mailbox_[0]), 1u);
  for (const Writer& other : {kMate, kOtherCta, kPeer, kNextLaunch}) {
    EXPECT_EQ(fabric.Load(other, mailbox_[0]), kInitial);
  }
  EXPECT_TRUE(changed_.empty());
  LandTheOnly();
  EXPECT_EQ(fabric.Load(kPeer, mailbox_[0]), 1u);
  EXPECT_EQ(changed_, std::vector<const std::uint32_t*>{mailbox_[0]});
}

TEST_F(FabricTest, AThreadDoesNotSeeItsMulticastCopyBeforeItLands) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0], 1);
  EXPECT_EQ(fabric.Load(kFirst, mailbox_[0]), kInitial);
  fabric.PassBarrier(0, 0);
  fabric.FlushThread(kFirst);
  fabric.FlushLaunch(0, 0, 1);
  EXPECT_EQ(fabric.Load(kFirst, mailbox_[0]), kInitial);  // not even then
  LandTheOnly();
  EXPECT_EQ(fabric.Load(kFirst, mailbox_[0]), 1u);
}

TEST_F(FabricTest, ABarrierShowsStoresToTheCtaAndNoFurther) {
  Fabric& fabric = Make();
  fabric.StorePlain(kFirst, mailbox_[0], 1);
  fabric.PassBarrier(0, 0);
  fabric.StorePlain(kFirst, mailbox_[0] + 1, 2);  // after the barrier
  EXPECT_EQ(fabric.Load(kMate, mailbox_[0]), 1u);
  EXPECT_EQ(fabric.Load(kMate, mailbox_[0] + 1), kInitial);
  EXPECT_EQ(fabric.Load(kOtherCta, mailbox_[0]), kInitial);
  EXPECT_EQ(fabric.Load(kNextLaunch, mailbox_[0]), kInitial);
  EXPECT_EQ(*mailbox_[0], kInitial);
}

TEST_F(FabricTest, AReleaseLandsWhatTheThreadSeesInItsOwnRanksMemory) {
  Fabric& fabric = Make();
  fabric.StorePlain(kMate, mailbox_[0], 1);
  fabric.PassBarrier(0, 0);
  fabric.StorePlain(kMate, mailbox_[0] + 1, 2);      // of another thread, after the barrier
  fabric.StorePlain(kFirst, mailbox_[0] + 2, 3);     // of the thread itself
  fabric.StorePlain(kOtherCta, mailbox_[0] + 3, 4);  // of another CTA
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 5);  // to a peer
  fabric.FlushThread(kFirst);
  EXPECT_EQ(std::vector<std::uint32_t>(mailbox_[0], mailbox_[0] + 4),
            (std::vector<std::uint32_t>{1, kInitial, 3, kInitial}));
  EXPECT_EQ(*mailbox_[1], kInitial);
  EXPECT_EQ(fabric.landable().size(), 3u);
}

TEST_F(FabricTest, ACompletedLaunchLandsItsUnicastStoresToItsRank) {
  Fabric& fabric = Make();
  fabric.StorePlain(kFirst, mailbox_[0], 1);
  fabric.StoreStrong(kOtherCta, Alias::kUnicast, mailbox_[0] + 2, 2);
  fabric.StorePlain(kNextLaunch, mailbox_[0] + 1, 3);
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 4);
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0] + 3, 5);
  fabric.FlushLaunch(0, 0, 1);
  EXPECT_EQ(*mailbox_[0], 1u);
  EXPECT_EQ(mailbox_[0][2], 2u);
  EXPECT_EQ(mailbox_[0][1], kInitial);
  EXPECT_EQ(*mailbox_[1], kInitial);
  EXPECT_EQ(mailbox_[0][3], kInitial);
}

TEST_F(FabricTest, WhatFollowsACompletedLaunchLandsAfterItAtTheSamePlace) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 1);
  fabric.StoreStrong(kOtherCta, Alias::kUnicast, mailbox_[1], 2);  // of the same launch
  fabric.FlushLaunch(0, 0, 1);
  fabric.StoreStrong(kNextLaunch, Alias::kUnicast, mailbox_[1], 3);
  EXPECT_EQ(fabric.landable().size(), 2u);
  fabric.Land(1);
  fabric.Land(0);
  LandTheOnly();
  EXPECT_EQ(*mailbox_[1], 3u);
}

TEST_F(FabricTest, AStoreToAPeerThatStoresThereWeaklyIsARace) {
  Fabric& fabric = Make();
  fabric.StorePlain(kFirst, mailbox_[0], 1);
  fabric.StoreStrong(kPeer, Alias::kUnicast, mailbox_[0] + 1, 2);
  fabric.StoreStrong(kOtherCta, Alias::kUnicast, mailbox_[0], 3);  // of the same rank
  EXPECT_FALSE(fabric.violation);
  fabric.StoreStrong(kPeer, Alias::kMulticast, mailbox_[0], 4);
  ASSERT_TRUE(fabric.violation);
  EXPECT_EQ(fabric.violation->property, Property::kRace);
}

TEST_F(FabricTest, WeakAccessesOfTwoRanksAreARace) {
  Fabric& fabric = Make();
  fabric.StorePlain(kFirst, mailbox_[1], 1);
  fabric.CheckWeakAccess(kOtherCta, mailbox_[1]);  // of the same rank
  EXPECT_FALSE(fabric.violation);
  fabric.StorePlain(kPeer, mailbox_[1], 2);
  ASSERT_TRUE(fabric.violation);
  EXPECT_EQ(fabric.violation->property, Property::kRace);
}

TEST_F(FabricTest, PrivateMemoryIsOfOneRank) {
  Fabric& fabric = Make();
  const std::uint32_t inputs[6] = {};
  fabric.AddPrivate(1, inputs + 2, 2);
  fabric.AddPrivate(0, inputs, 2);
  EXPECT_TRUE(fabric.IsPrivate(0, inputs + 1) && fabric.IsPrivate(1, inputs + 3));
  EXPECT_FALSE(fabric.IsPrivate(0, inputs + 2) || fabric.IsPrivate(1, inputs + 4));
  EXPECT_FALSE(fabric.IsPrivate(0, mailbox_[0]));
}

TEST_F(FabricTest, WordsOfOneThreadToOneAddressThroughOneAliasLandInOrder) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 1);
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 2);
  LandTheOnly();
  EXPECT_EQ(*mailbox_[1], 1u);
  LandTheOnly();
  EXPECT_EQ(*mailbox_[1], 2u);
}

TEST_F(FabricTest, NothingElseIsOrdered) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[1], 1);
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 2);        // another alias
  fabric.StoreStrong(kMate, Alias::kUnicast, mailbox_[1], 3);         // another thread
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[1] + 1, 4);  // another address
  EXPECT_EQ(fabric.landable().size(), 4u);
  fabric.Land(2);
  fabric.Land(1);
  fabric.Land(0);
  EXPECT_EQ(*mailbox_[1], 1u);
}

TEST_F(FabricTest, AnAliasFenceShowsItsThreadWhatItHasStoredBefore) {
  Fabric& fabric = Make();
  fabric.FenceAliases(kMate);  // of a thread that has stored nothing yet
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0], 1);
  fabric.StoreStrong(kMate, Alias::kMulticast, mailbox_[0] + 1, 2);
  fabric.FenceAliases(kFirst);
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0] + 2, 3);
  EXPECT_EQ(fabric.Load(kFirst, mailbox_[0]), 1u);
  EXPECT_EQ(fabric.Load(kFirst, mailbox_[0] + 2), kInitial);  // stored after the fence
  EXPECT_EQ(fabric.Load(kMate, mailbox_[0]), kInitial);       // nothing has told it
  EXPECT_EQ(fabric.Load(kMate, mailbox_[0] + 1), kInitial);   // another thread's fence
  EXPECT_EQ(*mailbox_[0], kInitial);                          // nor has it landed
  EXPECT_EQ(fabric.landable().size(), 3u);
}

TEST_F(FabricTest, AnAliasFenceIsPassedOnByWhatFollowsIt) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0], 1);
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0] + 1, 2);
  fabric.PassBarrier(0, 0);
  fabric.FenceAliases(kFirst);
  EXPECT_EQ(fabric.Load(kMate, mailbox_[0]), kInitial);  // the barrier came before the fence
  fabric.PassBarrier(0, 0);
  EXPECT_EQ(fabric.Load(kMate, mailbox_[0]), 1u);
  fabric.FlushThread(kMate);  // cumulative
  EXPECT_EQ(mailbox_[0][0], 1u);
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0] + 2, 3);
  fabric.FenceAliases(kFirst);
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0] + 3, 4);
  fabric.FlushLaunch(0, 0, 1);
  EXPECT_EQ(mailbox_[0][2], 3u);
  EXPECT_EQ(mailbox_[0][3], kInitial);
}

TEST_F(FabricTest, AnAliasFenceOrdersBothWays) {
  for (const auto& [before, after] : {std::pair(Alias::kMulticast, Alias::kUnicast),
                                      std::pair(Alias::kUnicast, Alias::kMulticast)}) {
    Fabric& fabric = Make();
    fabric.StoreStrong(kFirst, before, mailbox_[1], 1);
    fabric.FenceAliases(kFirst);
    fabric.StoreStrong(kFirst, after, mailbox_[1], 2);
    LandTheOnly();
    EXPECT_EQ(*mailbox_[1], 1u);
    LandTheOnly();
    EXPECT_EQ(*mailbox_[1], 2u);
  }
}

TEST_F(FabricTest, BehindAnAliasFenceAThreadDoesNotRaceWithItself) {
  for (const bool fence : {false, true}) {
    Fabric& fabric = Make();
    fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0], 1);
    if (fence) fabric.FenceAliases(kFirst);
    fabric.StorePlain(kFirst, mailbox_[0], kInitial);
    EXPECT_EQ(Found(Property::kRace) == "nothing", fence);
  }
}

TEST_F(FabricTest, LinksInOrderKeepTheWordsBetweenTwoRanksInOrder) {
  Fabric& fabric = Make({.links_in_order = true});
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[1], 1);
  fabric.StoreStrong(kMate, Alias::kUnicast, mailbox_[1] + 1, 2);    // the same link
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0], 3);     // another link
  fabric.StoreStrong(kPeer, Alias::kMulticast, mailbox_[1] + 2, 4);  // another link
  ASSERT_EQ(fabric.landable().size(), 3u);
  EXPECT_EQ(fabric.Land(0), mailbox_[1]);
  ASSERT_EQ(fabric.landable().size(), 3u);
  EXPECT_EQ(fabric.Land(0), mailbox_[1] + 1);
}

TEST_F(FabricTest, NamesDoNotDependOnWhatLandedBefore) {
  std::vector<std::uint32_t> names[2];
  for (const bool land : {false, true}) {
    Fabric& fabric = Make();
    fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1], 1);
    if (land) LandTheOnly();
    fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[1] + 1, 2);
    fabric.StoreStrong(kPeer, Alias::kUnicast, mailbox_[0], 3);
    const std::vector<std::uint32_t>& landable = fabric.landable();
    names[land ? 1 : 0].assign(landable.end() - 2, landable.end());
  }
  EXPECT_EQ(names[0], names[1]);
  EXPECT_NE(names[0][0], names[0][1]);
}

TEST_F(FabricTest, PlainStoresToMailboxesLagTheRestOfTheRankSeesThem) {
  Fabric& fabric = Make({.lag = 1});
  fabric.StorePlain(kFirst, mailbox_[0], 1);
  EXPECT_EQ(fabric.landable().size(), 1u);  // it may land, but nothing forces it yet
  fabric.FlushThread(kFirst);
  EXPECT_EQ(*mailbox_[0], kInitial);
  EXPECT_EQ(fabric.Load(kNextLaunch, mailbox_[0]), kInitial);
  fabric.FlushLaunch(0, 0, 1);
  EXPECT_EQ(*mailbox_[0], kInitial);
  EXPECT_EQ(fabric.Load(kNextLaunch, mailbox_[0]), 1u);  // follows a launch that has completed
  EXPECT_EQ(fabric.Load(kPeer, mailbox_[0]), kInitial);
  fabric.FlushLaunch(2, 0, 2);
  EXPECT_EQ(*mailbox_[0], 1u);
}

TEST_F(FabricTest, OtherMemoryDoesNotLag) {
  Fabric& fabric = Make({.lag = 2});
  Fabric::Memory memory;
  memory.name = "state";
  std::uint32_t* state = fabric.Add(std::move(memory), 1);
  fabric.StorePlain(kFirst, state, 1);
  EXPECT_EQ(fabric.landable().size(), 1u);
  fabric.FlushLaunch(0, 0, 1);
  EXPECT_EQ(*state, 1u);
}

TEST_F(FabricTest, WithoutStoreBuffersPlainStoresLandAtOnceBehindTheThreadsOwn) {
  Fabric& fabric = Make({.store_buffers = false});
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[0], 1);
  fabric.StorePlain(kFirst, mailbox_[0], 2);
  EXPECT_EQ(*mailbox_[0], 2u);
  EXPECT_TRUE(fabric.landable().empty());
}

TEST_F(FabricTest, AnAtomicFollowsWhatItsThreadSees) {
  Fabric& fabric = Make();
  fabric.StorePlain(kMate, mailbox_[0], 1);
  EXPECT_EQ(fabric.FetchAdd(kFirst, mailbox_[0], 1), kInitial);
  fabric.PassBarrier(0, 0);
  EXPECT_EQ(fabric.FetchAdd(kFirst, mailbox_[0], 1), 1u);
  EXPECT_EQ(*mailbox_[0], 2u);
}

TEST_F(FabricTest, AWeakAccessRacesWithAStrongStoreOnItsWay) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kPeer, Alias::kUnicast, mailbox_[0] + 2, 0x1234);
  fabric.CheckWeakAccess(kFirst, mailbox_[0] + 1);
  EXPECT_FALSE(fabric.violation);
  fabric.StorePlain(kFirst, mailbox_[0] + 2, 1);
  EXPECT_EQ(Found(Property::kRace),
            "rank 0 touches rank 0's mailbox, word 2 while 0x00001234 of rank 1 is on its way "
            "there");
}

TEST_F(FabricTest, WeakStoresOfOneRankAreNotTakenForARace) {
  Fabric& fabric = Make();
  fabric.StorePlain(kOtherCta, mailbox_[0], 1);
  fabric.StorePlain(kFirst, mailbox_[0], 1);
  EXPECT_FALSE(fabric.violation);
}

TEST_F(FabricTest, AThreadRacesWithItsOwnMulticastCopyOnly) {
  Fabric& fabric = Make();
  fabric.StoreStrong(kFirst, Alias::kUnicast, mailbox_[0], 1);
  fabric.CheckWeakAccess(kFirst, mailbox_[0]);
  EXPECT_FALSE(fabric.violation);
  fabric.StoreStrong(kFirst, Alias::kMulticast, mailbox_[0], 1);
  fabric.CheckWeakAccess(kFirst, mailbox_[0]);
  EXPECT_NE(Found(Property::kRace), "nothing");
}

TEST_F(FabricTest, AWordOnOneThatHasNotBeenResetIsAnOverrun) {
  Fabric& fabric = Make({}, true);
  fabric.StoreStrong(kPeer, Alias::kMulticast, mailbox_[0], 1);
  LandTheOnly();
  EXPECT_FALSE(fabric.violation);
  fabric.StoreStrong(kPeer, Alias::kMulticast, mailbox_[0], 2);
  LandTheOnly();
  EXPECT_EQ(Found(Property::kOverrun),
            "0x00000002 of rank 1 landed on 0x00000001 in rank 0's mailbox, word 0");
}

TEST_F(FabricTest, AResetMayLandOnAnything) {
  Fabric& fabric = Make({}, true);
  fabric.StoreStrong(kPeer, Alias::kMulticast, mailbox_[0], 1);
  LandTheOnly();
  fabric.StorePlain(kFirst, mailbox_[0], kInitial);
  LandTheOnly();
  fabric.CheckNothingIsLeft();
  EXPECT_FALSE(fabric.violation);
}

TEST_F(FabricTest, WhatIsLeftIsNamed) {
  Fabric& fabric = Make({}, true);
  fabric.StoreStrong(kPeer, Alias::kMulticast, mailbox_[0] + 3, 1);
  fabric.FlushAll();
  fabric.CheckNothingIsLeft();
  EXPECT_EQ(Found(Property::kLeftover), "0x00000001 was left in rank 0's mailbox, word 3");
}

TEST_F(FabricTest, ResetForgetsEverything) {
  Fabric& fabric = Make({}, true);
  fabric.StoreStrong(kPeer, Alias::kUnicast, mailbox_[0], 1);
  const std::uint32_t name = fabric.landable().front();
  fabric.FlushAll();
  fabric.CheckNothingIsLeft();
  fabric.StoreStrong(kPeer, Alias::kUnicast, mailbox_[0], 2);
  fabric.Reset();
  EXPECT_FALSE(fabric.violation);
  EXPECT_TRUE(fabric.landable().empty());
  EXPECT_EQ(*mailbox_[0], kInitial);
  fabric.StoreStrong(kPeer, Alias::kUnicast, mailbox_[0], 1);
  EXPECT_EQ(fabric.landable().front(), name);
}

TEST_F(FabricTest, MemoryOfNobodyIsRefused) {
  Fabric& fabric = Make();
  std::uint32_t local = 0;
  EXPECT_FALSE(fabric.Owns(&local));
  EXPECT_TRUE(fabric.Owns(mailbox_[0] + 3));
  EXPECT_THROW(fabric.StorePlain(kFirst, &local, 1), std::logic_error);
}

}  // namespace
}  // namespace mailbench
