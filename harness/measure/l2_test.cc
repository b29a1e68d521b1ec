#include "harness/measure/l2.h"

#include <gtest/gtest.h>

namespace mailbench {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

L2Footprint Of(std::int64_t l2_bytes, int ranks_per_gpu, std::int64_t mailbox_bytes,
               std::int64_t input_bytes, std::int64_t output_bytes) {
  return {l2_bytes, ranks_per_gpu, mailbox_bytes, input_bytes, output_bytes};
}

TEST(UseL2, HotKeepsEverythingOfAllRanksInAQuarter) {
  // A quarter is 16 KiB, 4 KiB a rank; without the mailbox 3 KiB are left for pairs of 512 bytes.
  const L2Footprint footprint = Of(65536, 4, 1024, 128, 384);
  const L2Use use = UseL2(L2State::kHot, footprint, Mode::kGraph, 100);
  EXPECT_EQ(use.state, "hot");
  EXPECT_EQ(use.slots, 6);
  EXPECT_FALSE(use.evicts);
  EXPECT_EQ(use.evicted, "");
  EXPECT_EQ(UseL2(L2State::kHot, footprint, Mode::kGraph, 5).slots, 5);
  EXPECT_EQ(UseL2(L2State::kHot, footprint, Mode::kEager, 1).slots, 1);
}

TEST(UseL2, HotThatDoesNotFitSaysSo) {
  EXPECT_EQ(UseL2(L2State::kHot, Of(65536, 4, 3584, 128, 384), Mode::kGraph, 9).state, "hot");
  for (const L2Footprint& footprint :
       {Of(65536, 4, 3585, 128, 384), Of(65536, 4, 5000, 128, 384), Of(65536, 4, 0, 128, 4096)}) {
    const L2Use use = UseL2(L2State::kHot, footprint, Mode::kGraph, 9);
    EXPECT_EQ(use.state, "exceeded");
    EXPECT_EQ(use.slots, 1);
  }
}

TEST(UseL2, ColdEvictsAndGivesEachCallOfAGraphItsOwn) {
  L2Use use = UseL2(L2State::kCold, Of(50 * kMiB, 1, kMiB, kMiB / 4, kMiB), Mode::kGraph, 1000);
  EXPECT_EQ(use.state, "cold");
  EXPECT_EQ(use.slots, 100);  // twice L2
  EXPECT_TRUE(use.evicts);
  EXPECT_NE(use.evicted.find("the mailbox for the first calls"), std::string::npos);
  EXPECT_EQ(UseL2(L2State::kCold, Of(kMiB, 1, 0, kMiB, kMiB), Mode::kGraph, 1000).slots, 64);
  EXPECT_EQ(UseL2(L2State::kCold, Of(kMiB, 1, 0, kMiB, kMiB), Mode::kGraph, 7).slots, 7);
  EXPECT_EQ(UseL2(L2State::kCold, Of(kMiB, 1, 0, kMiB, 65 * kMiB), Mode::kGraph, 7).slots, 1);
  use = UseL2(L2State::kCold, Of(kMiB, 1, 0, kMiB, kMiB), Mode::kIsolated, 1);
  EXPECT_EQ(use.slots, 1);
  EXPECT_TRUE(use.evicts);
  EXPECT_EQ(use.evicted, "input, output and mailbox");
}

TEST(UseL2, WithoutACacheThatIsControlledItIsTheSameWhateverIsWanted) {
  for (const L2State wanted : {L2State::kHot, L2State::kCold}) {
    const L2Use use = UseL2(wanted, Of(0, 1, kMiB, kMiB, kMiB), Mode::kGraph, 1000);
    EXPECT_EQ(use.state, "not controlled");
    EXPECT_EQ(use.slots, 64);
    EXPECT_FALSE(use.evicts);
    EXPECT_EQ(use.evicted, "");
  }
}

}  // namespace
}  // namespace mailbench
