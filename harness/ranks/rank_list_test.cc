#include "harness/ranks/rank_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace mailbench {
namespace {

TEST(RankListTest, WritesLongRunsAsRanges) {
  EXPECT_EQ(RankList(std::vector{2}), "rank 2");
  EXPECT_EQ(RankList(std::vector{0, 1}), "ranks 0, 1");
  EXPECT_EQ(RankList(std::vector{0, 1, 3}), "ranks 0, 1, 3");
  EXPECT_EQ(RankList(std::vector{0, 1, 2}), "ranks 0-2");
  EXPECT_EQ(RankList(std::vector{0, 1, 2, 3, 4, 5, 7}), "ranks 0-5, 7");
  EXPECT_EQ(RankList(std::vector{0, 2, 3, 70, 71, 72}), "ranks 0, 2, 3, 70-72");
}

}  // namespace
}  // namespace mailbench
