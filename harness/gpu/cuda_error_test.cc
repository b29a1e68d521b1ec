#include "harness/gpu/cuda_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/fake_driver.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string TextOf(const std::function<void()>& step) {
  try {
    step();
  } catch (const SystemError& error) {
    return error.what();
  }
  return "";
}

std::string Host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// MPI has not started in this program: the rank is the launcher's.
class CudaErrorTest : public testing::Test {
 protected:
  CudaErrorTest() {
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  }
  ~CudaErrorTest() override {
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
  }
  const std::string where_ = " failed on rank 3 on " + Host() + ": ";
};

TEST_F(CudaErrorTest, OfTheRuntimeSaysCallCodeTextRankHostAndPlace) {
  const std::string text = TextOf([] { MAILBENCH_CUDA(cudaErrorInvalidValue); });
  EXPECT_THAT(text, StartsWith("cudaErrorInvalidValue" + where_ +
                               "cudaErrorInvalidValue: invalid argument ("));
  EXPECT_THAT(text, HasSubstr("cuda_error_test.cc:"));
  // A bad argument fails so with a driver and without one.
  EXPECT_THAT(TextOf([] { MAILBENCH_CUDA(cudaGetDeviceCount(nullptr)); }),
              StartsWith("cudaGetDeviceCount" + where_ + "cudaError"));
  EXPECT_EQ(TextOf([] { MAILBENCH_CUDA(cudaSuccess); }), "");
}

TEST_F(CudaErrorTest, OfTheDriverSaysCallCodeTextRankHostAndPlace) {
  const DriverTable& driver = FakeDriver::Get().table();
  const std::string text = TextOf([&] { MAILBENCH_DRIVER(driver, MemUnmap, 0, 1); });
  EXPECT_THAT(text,
              StartsWith("cuMemUnmap" + where_ + "CUDA_ERROR_INVALID_VALUE: invalid argument ("));
  EXPECT_THAT(text, HasSubstr("cuda_error_test.cc:"));
  EXPECT_EQ(TextOf([&] { MAILBENCH_DRIVER(driver, CtxSynchronize); }), "");
}

TEST_F(CudaErrorTest, ACallOfTheDriverIsAStep) {
  HeartbeatSlot slot{};
  std::vector<std::string> steps;
  const Heartbeat heartbeat(&slot,
                            [&](const HeartbeatState& state) { steps.push_back(state.step); });
  const DriverTable& driver = FakeDriver::Get().table();
  MAILBENCH_DRIVER(driver, CtxSynchronize);
  EXPECT_NE(TextOf([&] { MAILBENCH_DRIVER(driver, MemUnmap, 0, 1); }), "");
  EXPECT_THAT(steps, ElementsAre("cuCtxSynchronize", "", "cuMemUnmap", ""));
}

TEST_F(CudaErrorTest, ACodeThatTheDriverDoesNotKnowIsANumber) {
  EXPECT_EQ(DriverErrorText(FakeDriver::Get().table(), static_cast<CUresult>(12345)),
            "unknown error 12345");
}

}  // namespace
}  // namespace mailbench
