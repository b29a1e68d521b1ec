#include "harness/validate/origin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "harness/validate/payload.h"

namespace mailbench {
namespace {

std::uint32_t Identity(std::uint32_t word) { return word; }
std::uint32_t SentinelToZero(std::uint32_t word) { return word == 0x80000000u ? 0 : word; }

PayloadSpace Space(std::uint64_t newest_call, std::uint64_t calls, std::uint64_t words,
                   WordMap map = Identity) {
  return {.seed = 9,
          .newest_call = newest_call,
          .calls = calls,
          .ranks = 4,
          .words_per_rank = words,
          .map = map};
}

std::optional<PayloadOrigin> FindOrigin(std::span<const std::uint32_t> seen,
                                        const PayloadSpace& space) {
  const std::vector<PayloadOrigin> found = FindOrigins(seen, 1, space);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

TEST(FindOrigin, NamesCallRankAndWord) {
  std::vector<std::uint32_t> words(400);
  FillPayload(words, 9, 17, 2);
  int found = 0;
  for (std::uint64_t first = 0; first < 400; first += 4) {
    const auto pack = std::span(words).subspan(first, 4);
    if (std::all_of(pack.begin(), pack.end(), IsHardWord)) continue;
    const auto origin = FindOrigin(pack, Space(20, 8, 400));
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
        std::all_of(pack.begin(), pack.end(), IsHardWord)) {
      continue;
    }
    std::vector<std::uint32_t> arrived(pack.begin(), pack.end());
    std::transform(arrived.begin(), arrived.end(), arrived.begin(), SentinelToZero);
    EXPECT_FALSE(FindOrigin(arrived, Space(17, 1, 4000)).has_value());
    const auto origin = FindOrigin(arrived, Space(17, 1, 4000, SentinelToZero));
    ASSERT_TRUE(origin.has_value());
    EXPECT_EQ(origin->word, first);
    return;
  }
  FAIL() << "no such pack";
}

TEST(FindOrigin, DoesNotClaimWhatNobodySent) {
  const std::vector<std::uint32_t> seen = {0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef};
  EXPECT_FALSE(FindOrigin(seen, Space(17, 18, 400)).has_value());
  std::vector<std::uint32_t> old(4);
  FillPayload(old, 9, 2, 0);
  EXPECT_FALSE(FindOrigin(old, Space(17, 8, 400)).has_value());  // call 2 is too long ago
}

// The first pack of the payload whose words are all hard, or all but the one at `easy`.
std::vector<std::uint32_t> PackWith(int easy_words) {
  std::vector<std::uint32_t> words(4000);
  FillPayload(words, 9, 17, 2);
  for (std::size_t first = 0; first < words.size(); first += 4) {
    const auto pack = std::span(words).subspan(first, 4);
    if (std::count_if(pack.begin(), pack.end(), IsHardWord) == 4 - easy_words) {
      return {pack.begin(), pack.end()};
    }
  }
  return {};
}

TEST(DescribeOrigin, TellsAWholePack) {
  std::vector<std::uint32_t> words(8);
  FillPayload(words, 9, 17, 2);
  EXPECT_EQ(DescribeOrigin(std::span(words).subspan(4), 1, Space(18, 8, 4000)),
            "which is word 5 of rank 2's input of call 17");
}

TEST(DescribeOrigin, FindsASingleWordOfATornPack) {
  std::vector<std::uint32_t> torn = PackWith(4);
  ASSERT_EQ(torn.size(), 4u);
  const std::string whole = DescribeOrigin(torn, 0, Space(18, 8, 4000));
  torn[3] ^= 1;
  EXPECT_EQ(DescribeOrigin(torn, 0, Space(18, 8, 4000)),
            whole + ", in a pack that was never sent so");
  EXPECT_EQ(DescribeOrigin(torn, 3, Space(18, 8, 4000)), "which no recent call sent");
}

TEST(DescribeOrigin, DoesNotClaimToTraceWhatManyPayloadsHold) {
  const std::vector<std::uint32_t> hard = PackWith(0);
  ASSERT_EQ(hard.size(), 4u);
  // One of the 65536 packs of such words: in few payloads it is found once, in many by chance, too.
  const PayloadSpace few = Space(17, 1, 4000);
  const auto once = FindOrigins(hard, 9, few);
  ASSERT_EQ(once.size(), 1u);
  EXPECT_EQ(DescribeOrigin(hard, 2, few), "which may be word " + std::to_string(once[0].word + 2) +
                                              " of rank 2's input of call 17");
  const PayloadSpace many = Space(17, 18, 400'000);
  const auto often = FindOrigins(hard, 2, many);
  ASSERT_EQ(often.size(), 2u);
  EXPECT_EQ(DescribeOrigin(hard, 2, many), "which was sent several times of late, last as word " +
                                               std::to_string(often[0].word + 2) + " of rank " +
                                               std::to_string(often[0].rank) + "'s input of call " +
                                               std::to_string(often[0].call));
  EXPECT_EQ(DescribeOrigin(hard, 2, Space(9, 1, 4)),
            "a value that many calls send, in a pack that no recent call sent so");
  // A hard word of a torn pack.
  std::vector<std::uint32_t> torn = PackWith(1);
  ASSERT_EQ(torn.size(), 4u);
  const auto easy = std::find_if_not(torn.begin(), torn.end(), IsHardWord);
  *easy ^= 1;
  const std::size_t at = easy == torn.begin() ? 1 : 0;
  EXPECT_EQ(DescribeOrigin(torn, at, Space(18, 8, 4000)),
            "a value that many calls send, in a pack that no recent call sent so");
}

}  // namespace
}  // namespace mailbench
