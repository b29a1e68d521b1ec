#include "harness/validate/payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace mailbench {
namespace {

TEST(Payload, IsAFunctionOfItsArgumentsAlone) {
  std::vector<std::uint32_t> words(100);
  FillPayload(words, 7, 3, 2);
  for (std::uint64_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], Payload(7, 3, 2).word(i));
}

TEST(Payload, EveryArgumentMatters) {
  std::vector<std::uint32_t> base(64);
  FillPayload(base, 1, 5, 2);
  std::vector<std::uint32_t> other(64);
  for (const auto& [seed, call, rank] : {std::tuple{2, 5, 2}, {1, 6, 2}, {1, 5, 3}, {1, 2, 5}}) {
    FillPayload(other, static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(call), rank);
    EXPECT_NE(base, other) << seed << ' ' << call << ' ' << rank;
  }
}

TEST(Payload, HalfOfTheWordsAreHardAndAllHardOnesOccur) {
  std::vector<std::uint32_t> words(100000);
  FillPayload(words, 1, 1, 0);
  const auto hard = std::count_if(words.begin(), words.end(), IsHardWord);
  EXPECT_GT(hard, 49000);  // binomial: 50000 +- 6 standard deviations of 158
  EXPECT_LT(hard, 51000);
  std::set<std::uint32_t> seen(words.begin(), words.end());
  for (std::uint32_t i = 0; i < kHardWords; ++i) {
    EXPECT_EQ(seen.count(HardWord(i)), 1u) << HardWord(i);
  }
}

TEST(Payload, HoldsTheSentinelNegativeZeroNansAndSubnormals) {
  EXPECT_TRUE(IsHardWord(0x80000000u));
  EXPECT_TRUE(IsHardWord(0x7fc00000u));
  EXPECT_TRUE(IsHardWord(0x7f800001u));
  EXPECT_TRUE(IsHardWord(0x00000001u));
  EXPECT_TRUE(IsHardWord(0x80000001u));
}

}  // namespace
}  // namespace mailbench
