#include "harness/gpu/nvml.h"

#include <gtest/gtest.h>

namespace mailbench {
namespace {

TEST(Nvml, ReadsWhatTheLibraryTells) {
  const NvmlFacts facts = ReadNvmlFacts("0000:65:00.0", MAILBENCH_FAKE_NVML);
  EXPECT_EQ(facts.driver, "580.95.05");
  EXPECT_EQ(facts.sm_clock_mhz, 1755);
  EXPECT_EQ(facts.sm_clock_max_mhz, 1980);
  EXPECT_EQ(facts.memory_clock_mhz, std::nullopt);
  EXPECT_EQ(facts.memory_clock_max_mhz, std::nullopt);
  EXPECT_EQ(facts.mig, true);
  EXPECT_EQ(facts.place.state, 3);
  EXPECT_EQ(facts.place.status, 0);
  EXPECT_EQ(facts.place.cluster, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_EQ(facts.place.clique, 32766u);
  EXPECT_EQ(facts.place.health_mask, 0x99u);
}

TEST(Nvml, ReadsTheFabricInEitherLayout) {
  const FabricPlace place = ReadNvmlFacts("0000:66:00.0", MAILBENCH_FAKE_NVML).place;
  EXPECT_EQ(place.state, 3);
  EXPECT_EQ(place.cluster, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_EQ(place.health_mask, 0x5aau);
}

TEST(Nvml, AnNvmlThatKnowsNeitherLayoutTellsNothingOfAFabric) {
  const NvmlFacts facts = ReadNvmlFacts("0000:67:00.0", MAILBENCH_FAKE_NVML);
  EXPECT_EQ(facts.sm_clock_mhz, 1755);
  EXPECT_EQ(facts.place.state, std::nullopt);
  EXPECT_EQ(facts.place.cluster, "");
  EXPECT_EQ(facts.place.health_mask, 0u);
}

TEST(Nvml, AGpuThatItDoesNotKnowLeavesTheDriverOnly) {
  const NvmlFacts facts = ReadNvmlFacts("0000:01:00.0", MAILBENCH_FAKE_NVML);
  EXPECT_EQ(facts.driver, "580.95.05");
  EXPECT_EQ(facts.sm_clock_mhz, std::nullopt);
  EXPECT_EQ(facts.mig, std::nullopt);
  EXPECT_EQ(facts.place.state, std::nullopt);
}

TEST(Nvml, AnAbsentLibraryLeavesNothingAndIsNoError) {
  const NvmlFacts facts = ReadNvmlFacts("0000:65:00.0", "libno-such-library.so.1");
  EXPECT_EQ(facts.driver, "");
  EXPECT_EQ(facts.sm_clock_mhz, std::nullopt);
  EXPECT_EQ(facts.mig, std::nullopt);
  EXPECT_EQ(facts.place.state, std::nullopt);
  EXPECT_EQ(facts.place.cluster, "");
}

TEST(SmClock, ReadsAgainAndAgainOrTellsNothing) {
  const SmClock clock("0000:66:00.0", MAILBENCH_FAKE_NVML);
  EXPECT_EQ(clock.mhz(), 1755);
  EXPECT_EQ(clock.mhz(), 1755);
  EXPECT_EQ(SmClock("0000:01:00.0", MAILBENCH_FAKE_NVML).mhz(), std::nullopt);
  EXPECT_EQ(SmClock("0000:66:00.0", "libno-such-library.so.1").mhz(), std::nullopt);
}

}  // namespace
}  // namespace mailbench
