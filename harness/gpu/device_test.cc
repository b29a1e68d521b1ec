// Under mpirun: what a machine without a GPU says, and that all ranks say the same.
#include "harness/gpu/device.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

#include "harness/error.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

bool HasGpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

TEST(ChooseDevice, WithoutAGpuIsTheSameMachineErrorOnAllRanks) {
  if (HasGpu()) GTEST_SKIP() << "this machine has a GPU";
  std::string text;
  try {
    ChooseDevice(DriverTable{}, TestRanks(), 1);
  } catch (const MachineError& error) {
    text = error.what();
  }
  EXPECT_EQ(text.find("no GPU to use: "), 0u) << text;
  for (const std::string& other : TestRanks().Gather(text)) EXPECT_EQ(other, text);
}

TEST(LoadDriver, WithoutADriverIsAMachineErrorThatNamesTheLibrary) {
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) {
    EXPECT_NE(LoadDriver().MemCreate, nullptr);
    return;
  }
  try {
    LoadDriver();
    FAIL() << "found a driver";
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("libcuda.so.1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace mailbench
