#include "kernels/lamport/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace mailbench {
namespace {

TEST(AcceptsBytes, TakesMultiplesOf16UpToTheCapacity) {
  EXPECT_TRUE(AcceptsBytes(16, 64));
  EXPECT_TRUE(AcceptsBytes(64, 64));
  for (const std::int64_t bytes : {0, 1, 8, 15, 17, 63, 65, 80, -16}) {
    EXPECT_FALSE(AcceptsBytes(bytes, 64)) << bytes;
  }
}

TEST(PlanAllGather, OneThreadAPack) {
  EXPECT_EQ(PlanAllGather(1, 4).ctas, 1);
  EXPECT_EQ(PlanAllGather(64, 4).ctas, 1);
  EXPECT_EQ(PlanAllGather(65, 4).ctas, 2);
  EXPECT_EQ(PlanAllGather(32768, 4).ctas, 512);
}

TEST(PlanAllGather, BatchCoversTheRanksUpToEight) {
  const int expected[][2] = {{1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {8, 8}, {9, 8}, {72, 8}};
  for (const auto& [ranks, batch] : expected) {
    EXPECT_EQ(PlanAllGather(1, ranks).poll_batch, batch) << ranks;
  }
}

TEST(PlanAllGather, RefusesWhatNoMailboxHolds) {
  EXPECT_THROW(PlanAllGather(0, 4), std::invalid_argument);
  EXPECT_THROW(PlanAllGather(-1, 4), std::invalid_argument);
  EXPECT_THROW(PlanAllGather(std::int64_t{1} << 38, 4), std::invalid_argument);
  EXPECT_THROW(PlanAllGather(1, 0), std::invalid_argument);
  EXPECT_THROW(PlanAllGather(1, 73), std::invalid_argument);
}

TEST(CoResidencyRefusal, CountsTwoGridsOfEveryRankOnTheGpu) {
  EXPECT_EQ(CoResidencyRefusal(PlanAllGather(32768, 4), {4, 132, 16}),
            "4 ranks on one GPU x 2 grids (a call and its dependent) x 512 CTAs = 4096 CTAs, and "
            "the GPU holds 132 x 16 = 2112: they would wait for each other for ever");
  // 264 CTAs a rank fill the GPU exactly.
  EXPECT_EQ(CoResidencyRefusal(PlanAllGather(std::int64_t{264} * 64, 4), {4, 132, 16}), "");
  EXPECT_NE(CoResidencyRefusal(PlanAllGather(std::int64_t{264} * 64 + 1, 4), {4, 132, 16}), "");
}

TEST(CoResidencyRefusal, LeavesAnEighthToOtherKernels) {
  const CoResidency shared = {4, 132, 16, true};
  EXPECT_EQ(CoResidencyRefusal(PlanAllGather(std::int64_t{231} * 64, 4), shared), "");
  EXPECT_THAT(CoResidencyRefusal(PlanAllGather(std::int64_t{232} * 64, 4), shared),
              testing::HasSubstr("132 x 16, less an eighth for the kernels that check, = 1848:"));
}

TEST(CoResidencyRefusal, LetsOneRankAGpuHaveAsManyAsItLikes) {
  EXPECT_EQ(CoResidencyRefusal(PlanAllGather(32768, 4), {1, 1, 1}), "");
}

TEST(CoResidencyRefusal, CountsBeyond32Bits) {
  AllGatherPlan plan;
  plan.ctas = std::numeric_limits<int>::max();
  EXPECT_THAT(CoResidencyRefusal(plan, {2, 132, 16}), testing::HasSubstr("= 8589934588 CTAs"));
}

TEST(PlanAllGather, IsReadable) {
  EXPECT_EQ(ToString(PlanAllGather(32768, 4)), "512 CTAs x 64 threads, poll batch 4");
}

}  // namespace
}  // namespace mailbench
