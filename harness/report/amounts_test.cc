#include "harness/report/amounts.h"

#include <gtest/gtest.h>

#include <limits>

namespace mailbench {
namespace {

TEST(Amounts, BytesHaveBinaryUnits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1024), "1.0 KiB");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(std::size_t{64} << 20), "64.0 MiB");
  EXPECT_EQ(FormatBytes(std::size_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(FormatBytes(std::size_t{5000} << 40), "5000.0 TiB") << "there is no larger unit";
}

TEST(Amounts, DurationsHaveTheUnitsThatCount) {
  EXPECT_EQ(FormatDuration(-1), "0.0 s");
  EXPECT_EQ(FormatDuration(0.26), "0.3 s");
  EXPECT_EQ(FormatDuration(9.94), "9.9 s");
  EXPECT_EQ(FormatDuration(9.96), "10 s");
  EXPECT_EQ(FormatDuration(59.4), "59 s");
  EXPECT_EQ(FormatDuration(59.6), "1 min 00 s");
  EXPECT_EQ(FormatDuration(200), "3 min 20 s");
  EXPECT_EQ(FormatDuration(2 * 3600 + 5 * 60 + 59), "2 h 05 min");
  EXPECT_EQ(FormatDuration(std::numeric_limits<double>::infinity()), "555555 h 33 min");
}

}  // namespace
}  // namespace mailbench
