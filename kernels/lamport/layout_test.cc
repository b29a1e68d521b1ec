#include "kernels/lamport/layout.h"

#include <gtest/gtest.h>

#include <set>

namespace mailbench {
namespace {

TEST(MailboxLayout, EverySlotHasItsOwnPlace) {
  for (const int ranks : {1, 2, 3, 8, 72}) {
    const MailboxLayout layout{ranks, 5};
    std::set<std::int64_t> places;
    for (std::uint32_t generation = 0; generation < kGenerations; ++generation) {
      for (int source = 0; source < ranks; ++source) {
        for (std::int64_t pack = 0; pack < 5; ++pack) {
          places.insert(layout.Slot(generation, source, pack));
        }
      }
    }
    EXPECT_EQ(static_cast<std::int64_t>(places.size()), layout.packs()) << ranks;
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), layout.packs() - 1);
  }
}

TEST(MailboxLayout, IsGenerationThenRankThenPack) {
  const MailboxLayout layout{4, 100};
  EXPECT_EQ(layout.Slot(0, 0, 7), 7);
  EXPECT_EQ(layout.Slot(0, 3, 7), 307);
  EXPECT_EQ(layout.Slot(2, 3, 7), 1107);
  EXPECT_EQ(layout.bytes(), 19200);
}

TEST(MailboxLayout, CountsBeyond32Bits) {
  const MailboxLayout layout{72, std::int64_t{1} << 28};
  EXPECT_EQ(layout.Slot(2, 71, 5), (std::int64_t{215} << 28) + 5);
  EXPECT_EQ(layout.bytes(), std::int64_t{216} << 32);
}

}  // namespace
}  // namespace mailbench
