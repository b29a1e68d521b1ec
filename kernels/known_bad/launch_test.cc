#include "kernels/known_bad/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace mailbench {
namespace {

using testing::HasSubstr;

TEST(PlanMnnvl, HasAThreadAPack) {
  EXPECT_EQ(PlanMnnvl(1).ctas, 1);
  EXPECT_EQ(PlanMnnvl(128).ctas, 1);
  EXPECT_EQ(PlanMnnvl(129).ctas, 2);
  EXPECT_EQ(PlanMnnvl(129).threads, 128);
  EXPECT_THROW(PlanMnnvl(0), std::invalid_argument);
}

TEST(MnnvlRefusal, WantsTheWholeGridResidentEvenAlone) {
  const CoResidency alone = {1, 4, 2};
  EXPECT_EQ(MnnvlRefusal(PlanMnnvl(1024), alone), "");
  EXPECT_THAT(MnnvlRefusal(PlanMnnvl(1025), alone),
              HasSubstr("a grid of 9 CTAs, and the GPU holds 4 x 2 = 8"));
}

TEST(MnnvlRefusal, CountsAllRanksOfAGpuAndTheirDependents) {
  const CoResidency shared = {2, 4, 2};
  EXPECT_EQ(MnnvlRefusal(PlanMnnvl(256), shared), "");
  EXPECT_THAT(MnnvlRefusal(PlanMnnvl(384), shared), HasSubstr("= 12 CTAs"));
}

}  // namespace
}  // namespace mailbench
