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
}

TEST(Nvml, AGpuThatItDoesNotKnowLeavesTheDriverOnly) {
  const NvmlFacts facts = ReadNvmlFacts("0000:01:00.0", MAILBENCH_FAKE_NVML);
  EXPECT_EQ(facts.driver, "580.95.05");
  EXPECT_EQ(facts.sm_clock_mhz, std::nullopt);
  EXPECT_EQ(facts.mig, std::nullopt);
}

TEST(Nvml, AnAbsentLibraryLeavesNothingAndIsNoError) {
  const NvmlFacts facts = ReadNvmlFacts("0000:65:00.0", "libno-such-library.so.1");
  EXPECT_EQ(facts.driver, "");
  EXPECT_EQ(facts.sm_clock_mhz, std::nullopt);
  EXPECT_EQ(facts.mig, std::nullopt);
}

}  // namespace
}  // namespace mailbench
