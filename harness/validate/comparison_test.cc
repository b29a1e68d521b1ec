#include "harness/validate/comparison.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "harness/validate/check_result.h"

namespace mailbench {
namespace {

TEST(CompareWords, CountsWhatDiffersAndNamesTheFirst) {
  const std::vector<std::uint32_t> expected = {1, 2, 3, 4};
  EXPECT_EQ(CompareWords(expected, expected).mismatches, 0u);
  const Comparison comparison = CompareWords(expected, std::vector<std::uint32_t>{1, 9, 3, 8});
  EXPECT_EQ(comparison.compared, 4u);
  EXPECT_EQ(comparison.mismatches, 2u);
  EXPECT_EQ(comparison.first, 1u);
}

// Each of these pairs is equal, or never equal to itself, as FP32.
TEST(CompareWords, ComparesBitsNotNumbers) {
  const auto differs = [](std::uint32_t a, std::uint32_t b) {
    return CompareWords(std::vector{a}, std::vector{b}).mismatches;
  };
  EXPECT_EQ(differs(0x80000000u, 0u), 1u);
  EXPECT_EQ(differs(0x7fc00000u, 0x7fc00000u), 0u);
  EXPECT_EQ(differs(0x7fc00000u, 0x7fc00001u), 1u);
  EXPECT_EQ(differs(0x00000001u, 0u), 1u);
}

TEST(CompareWords, ASingleFlippedBitIsSeenAnywhere) {
  std::vector<std::uint32_t> expected(257, 0x5a5a5a5au);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::vector<std::uint32_t> seen = expected;
    seen[i] ^= 1u << (i % 32);
    const Comparison comparison = CompareWords(expected, seen);
    EXPECT_EQ(comparison.mismatches, 1u);
    EXPECT_EQ(comparison.first, i);
  }
}

TEST(CompareWords, RefusesDifferentSizes) {
  EXPECT_THROW(CompareWords(std::vector<std::uint32_t>(3), std::vector<std::uint32_t>(4)),
               std::invalid_argument);
}

TEST(CheckResult, AddsCountsAndKeepsTheEarlierText) {
  CheckResult sum{
      .calls = 1, .compared = 10, .mismatches = 0, .audited = 5, .leftover = 0, .first = ""};
  EXPECT_TRUE(sum.passed());
  sum.Add({.calls = 2, .compared = 20, .mismatches = 3, .audited = 6, .leftover = 0, .first = "a"});
  EXPECT_FALSE(sum.passed());
  sum.Add({.calls = 0, .compared = 0, .mismatches = 0, .audited = 7, .leftover = 4, .first = "b"});
  EXPECT_EQ(sum.calls, 3u);
  EXPECT_EQ(sum.compared, 30u);
  EXPECT_EQ(sum.mismatches, 3u);
  EXPECT_EQ(sum.audited, 18u);
  EXPECT_EQ(sum.leftover, 4u);
  EXPECT_EQ(sum.first, "a");
  CheckResult audit_only;
  audit_only.leftover = 1;
  EXPECT_FALSE(audit_only.passed());
}

TEST(Hex, HasEightDigits) { EXPECT_EQ(Hex(0xbeef), "0x0000beef"); }

}  // namespace
}  // namespace mailbench
