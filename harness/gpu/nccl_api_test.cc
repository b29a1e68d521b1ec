#include "harness/gpu/nccl_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace mailbench {
namespace {

using testing::HasSubstr;

// Loads the file as MAILBENCH_NCCL names it.
NcclLoad LoadNamed(const char* file) {
  setenv("MAILBENCH_NCCL", file, 1);
  NcclLoad load = LoadNccl();
  unsetenv("MAILBENCH_NCCL");
  return load;
}

TEST(NcclApiTest, FillsTheTable) {
  const NcclLoad load = LoadNamed(FAKE_NCCL);
  ASSERT_TRUE(load.api) << load.reason;
  EXPECT_EQ(load.reason, "");
  EXPECT_EQ(load.api->version, 23203);
  EXPECT_EQ(load.api->path, FAKE_NCCL);
  EXPECT_STREQ(load.api->get_error_string(NcclCode::kInvalidUsage), "invalid usage");
  EXPECT_NE(load.api->all_gather, nullptr);
  EXPECT_NE(load.api->window_register, nullptr);
}

TEST(NcclApiTest, OldVersionsHaveNoWindows) {
  const NcclLoad load = LoadNamed(FAKE_OLD_NCCL);
  ASSERT_TRUE(load.api) << load.reason;
  EXPECT_NE(load.api->all_gather, nullptr);
  EXPECT_EQ(load.api->mem_alloc, nullptr);
  EXPECT_EQ(load.api->mem_free, nullptr);
  EXPECT_EQ(load.api->window_register, nullptr);
  EXPECT_EQ(load.api->window_deregister, nullptr);
}

TEST(NcclApiTest, SaysWhyThereIsNone) {
  const NcclLoad absent = LoadNamed("/nowhere/libnccl.so.2");
  EXPECT_FALSE(absent.api);
  EXPECT_THAT(absent.reason, HasSubstr("named by MAILBENCH_NCCL"));
  EXPECT_THAT(absent.reason, HasSubstr("/nowhere/libnccl.so.2: cannot open"));

  const NcclLoad incomplete = LoadNamed(FAKE_ANCIENT_NCCL);
  EXPECT_FALSE(incomplete.api);
  EXPECT_EQ(incomplete.reason,
            "NCCL 2.32.3 (" FAKE_ANCIENT_NCCL ") is too old: it lacks ncclCommAbort");

  const NcclLoad other = LoadNamed("libdl.so.2");
  EXPECT_FALSE(other.api);
  EXPECT_EQ(other.reason, "libdl.so.2 is not NCCL: it lacks ncclGetVersion");

  setenv("FAKE_NCCL_FAIL", "ncclGetVersion", 1);
  const NcclLoad broken = LoadNamed(FAKE_NCCL);
  unsetenv("FAKE_NCCL_FAIL");
  EXPECT_FALSE(broken.api);
  EXPECT_EQ(broken.reason, "NCCL (" FAKE_NCCL ") does not tell its version");
}

TEST(NcclApiTest, LooksOnTheLibraryPathWhenNoFileIsNamed) {
  for (const NcclLoad& load : {LoadNccl(), LoadNamed("")}) {
    if (load.api) {
      EXPECT_THAT(load.api->path, HasSubstr("libnccl"));
    } else {
      EXPECT_THAT(load.reason, HasSubstr("not on the library path"));
      EXPECT_THAT(load.reason, HasSubstr("libnccl.so.2"));
    }
  }
}

TEST(NcclApiTest, VersionsAndCodesInWords) {
  EXPECT_EQ(NcclVersionText(23203), "2.32.3");
  EXPECT_EQ(NcclVersionText(22809), "2.28.9");
  EXPECT_EQ(NcclCodeName(NcclCode::kInvalidUsage), "ncclInvalidUsage");
  EXPECT_EQ(NcclCodeName(static_cast<NcclCode>(8)), "ncclResult_t 8");
}

}  // namespace
}  // namespace mailbench
