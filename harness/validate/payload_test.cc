#include "harness/validate/payload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace mailbench {
namespace {

std::uint32_t Identity(std::uint32_t word) { return word; }
std::uint32_t SentinelToZero(std::uint32_t word) { return word == 0x80000000u ? 0 : word; }

bool IsHard(std::uint32_t word) {
  const auto hard = HardWords();
  return std::find(hard.begin(), hard.end(), word) != hard.end();
}

TEST(Payload, IsAFunctionOfItsArgumentsAlone) {
  std::vector<std::uint32_t> words(100);
  FillPayload(words, 7, 3, 2);
  for (std::uint64_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], PayloadWord(7, 3, 2, i));
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
  const auto hard = std::count_if(words.begin(), words.end(), IsHard);
  EXPECT_GT(hard, 49000);  // binomial: 50000 +- 6 standard deviations of 158
  EXPECT_LT(hard, 51000);
  std::set<std::uint32_t> seen(words.begin(), words.end());
  for (const std::uint32_t word : HardWords()) EXPECT_EQ(seen.count(word), 1u) << word;
}

TEST(Payload, HoldsTheSentinelNegativeZeroNansAndSubnormals) {
  EXPECT_TRUE(IsHard(0x80000000u));
  EXPECT_TRUE(IsHard(0x7fc00000u));
  EXPECT_TRUE(IsHard(0x7f800001u));
  EXPECT_TRUE(IsHard(0x00000001u));
  EXPECT_TRUE(IsHard(0x80000001u));
}

TEST(FindOrigin, NamesCallRankAndWord) {
  std::vector<std::uint32_t> words(400);
  FillPayload(words, 9, 17, 2);
  int found = 0;
  for (std::uint64_t first = 0; first < 400; first += 4) {
    const auto pack = std::span(words).subspan(first, 4);
    const auto origin = FindOrigin(pack, 9, 20, 8, 4, 400, Identity);
    if (std::all_of(pack.begin(), pack.end(), IsHard)) {
      EXPECT_FALSE(origin.has_value()) << first;
      continue;
    }
    ++found;
    ASSERT_TRUE(origin.has_value()) << first;
    EXPECT_EQ(origin->call, 17u);
    EXPECT_EQ(origin->rank, 2);
    EXPECT_EQ(origin->word, first);
  }
  EXPECT_GT(found, 80);
}

TEST(FindOrigin, LooksThroughWhatTheProtocolDoesToWords) {
  std::vector<std::uint32_t> words(4000);
  FillPayload(words, 9, 17, 2);
  // A pack that holds the sentinel and an easy word.
  for (std::uint64_t first = 0; first < 4000; first += 4) {
    const auto pack = std::span(words).subspan(first, 4);
    if (std::find(pack.begin(), pack.end(), 0x80000000u) == pack.end() ||
        std::all_of(pack.begin(), pack.end(), IsHard)) {
      continue;
    }
    std::vector<std::uint32_t> arrived(pack.begin(), pack.end());
    std::transform(arrived.begin(), arrived.end(), arrived.begin(), SentinelToZero);
    EXPECT_FALSE(FindOrigin(arrived, 9, 17, 1, 4, 4000, Identity).has_value());
    const auto origin = FindOrigin(arrived, 9, 17, 1, 4, 4000, SentinelToZero);
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->word, first);
    return;
  }
  FAIL() << "no such pack";
}

TEST(FindOrigin, DoesNotClaimWhatNobodySent) {
  const std::vector<std::uint32_t> seen = {0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef};
  EXPECT_FALSE(FindOrigin(seen, 9, 17, 18, 4, 400, Identity).has_value());
  std::vector<std::uint32_t> old(4);
  FillPayload(old, 9, 2, 0);
  EXPECT_FALSE(FindOrigin(old, 9, 17, 8, 4, 400, Identity).has_value());  // call 2 is too long ago
}

}  // namespace
}  // namespace mailbench
