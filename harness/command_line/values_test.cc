#include "harness/command_line/values.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "harness/error.h"

namespace mailbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ParseSize, TakesBytesAndBinarySuffixes) {
  EXPECT_EQ(ParseSize("--x", "16"), 16);
  EXPECT_EQ(ParseSize("--x", "0048"), 48);
  EXPECT_EQ(ParseSize("--x", "1K"), 1024);
  EXPECT_EQ(ParseSize("--x", "1k"), 1024);
  EXPECT_EQ(ParseSize("--x", "3M"), 3 * 1024 * 1024);
  EXPECT_EQ(ParseSize("--x", "2m"), 2 * 1024 * 1024);
  EXPECT_EQ(ParseSize("--x", "64G"), std::int64_t{64} << 30);
  EXPECT_EQ(ParseSize("--x", "64g"), std::int64_t{64} << 30);
  EXPECT_EQ(ParseSize("--x", "68719476736"), std::int64_t{64} << 30);
}

TEST(ParseSize, RefusesTheRestByNameAndValue) {
  for (const char* text : {"",
                           " ",
                           "-5",
                           "-16",
                           "+16",
                           " 16",
                           "16 ",
                           "16\n",
                           "0x10",
                           "1e3",
                           "16.0",
                           "1.5K",
                           "16B",
                           "16KB",
                           "16Ki",
                           "16KK",
                           "K",
                           "abc",
                           "0",
                           "0K",
                           "8",
                           "17",
                           "24x",
                           "65G",
                           "68719476752",
                           "100000000000000000000",
                           "18446744073709551616",
                           "99999999999999999999G",
                           "16T",
                           "\xff"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT([&] { ParseSize("--some-bytes", text); },
                ThrowsMessage<UsageError>(HasSubstr("--some-bytes: \"")));
  }
  EXPECT_THAT([] { ParseSize("--x", "100000000000000000000"); },
              ThrowsMessage<UsageError>(HasSubstr("is above 64G")));
  EXPECT_THAT([] { ParseSize("--x", "24"); },
              ThrowsMessage<UsageError>(HasSubstr("\"24\" is not a positive multiple of 16")));
}

TEST(ParseCount, KeepsItsBounds) {
  EXPECT_EQ(ParseCount("--x", "0", 0, 5), 0u);
  EXPECT_EQ(ParseCount("--x", "5", 0, 5), 5u);
  EXPECT_EQ(ParseCount("--x", "18446744073709551615", 0, UINT64_MAX), UINT64_MAX);
  EXPECT_THAT([] { ParseCount("--x", "6", 1, 5); },
              ThrowsMessage<UsageError>(HasSubstr("\"6\" is not between 1 and 5")));
  EXPECT_THROW(ParseCount("--x", "0", 1, 5), UsageError);
  EXPECT_THROW(ParseCount("--x", "18446744073709551616", 0, UINT64_MAX), UsageError);
  for (const char* text : {"", "-1", "+1", "1.0", "1e3", "1 ", " 1", "0x1", "1K", "one"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT([&] { ParseCount("--x", text, 0, 5); },
                ThrowsMessage<UsageError>(HasSubstr("is not a whole number")));
  }
}

TEST(ParseDecimal, TakesPlainDecimalsAlone) {
  EXPECT_DOUBLE_EQ(ParseDecimal("--x", "0.1", 0.1, 10), 0.1);
  EXPECT_DOUBLE_EQ(ParseDecimal("--x", "10", 0.1, 10), 10);
  EXPECT_DOUBLE_EQ(ParseDecimal("--x", "2.50", 0.1, 10), 2.5);
  for (const char* text : {"", "nan", "inf", "-1", "1e1", ".5", "5.", "1.2.3", "1,5", " 1", "1s"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT([&] { ParseDecimal("--x", text, 0.1, 10); },
                ThrowsMessage<UsageError>(HasSubstr("is not a decimal number")));
  }
  EXPECT_THAT([] { ParseDecimal("--x", "0.05", 0.1, 86'400); },
              ThrowsMessage<UsageError>(HasSubstr("\"0.05\" is not between 0.1 and 86400")));
  EXPECT_THROW(ParseDecimal("--x", "10.1", 0.1, 10), UsageError);
  EXPECT_THROW(ParseDecimal("--x", std::string(400, '9'), 0.1, 10), UsageError);
}

TEST(RequireOneOf, ListsWhatIsAccepted) {
  EXPECT_NO_THROW(RequireOneOf("--x", "b", {"a", "b"}));
  EXPECT_THAT(
      [] {
        RequireOneOf("--x", "c", {"a", "b"});
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("--x: \"c\""), HasSubstr("a, b"))));
}

TEST(RequireDistinct, NamesTheRepeatedItem) {
  EXPECT_NO_THROW(RequireDistinct({"--x", {"a", "b"}}));
  EXPECT_THAT(
      [] {
        RequireDistinct({"--x", {"a", "b", "a"}});
      },
      ThrowsMessage<UsageError>(HasSubstr("--x: \"a\" is listed twice")));
}

}  // namespace
}  // namespace mailbench
