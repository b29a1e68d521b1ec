// Under mpirun, without a GPU: on a fake runtime and a fake NCCL.
#include "harness/gpu/nccl_reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/fake_runtime.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

TEST(NcclReferenceTest, MemoryThatIsShortOnOneRankIsTheSameErrorOnAll) {
  setenv("MAILBENCH_NCCL", FAKE_NCCL, 1);
  const NcclResult<NcclComm> comm = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(comm.made, nullptr) << comm.reason;
  const DriverTable driver;
  GpuExecutor executor(driver);
  NcclReference reference(*comm.made, executor);
  const int last = TestRanks().size() - 1;
  if (TestRanks().rank() == last) fake_runtime.malloc_error = cudaErrorMemoryAllocation;
  const std::vector<std::uint32_t> own(4);
  std::vector<std::uint32_t> all(own.size() * static_cast<std::size_t>(TestRanks().size()));
  std::string text;
  try {
    reference.AllGather(own, all);
  } catch (const MachineError& error) {
    text = error.what();
  }
  EXPECT_EQ(text, "rank " + std::to_string(last) + ": 16 bytes of GPU memory are not to be had");
  comm.made->Free();
}

}  // namespace
}  // namespace mailbench
