// Without a GPU: on a fake runtime.
#include "harness/gpu/gpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "harness/error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/fake_runtime.h"

namespace mailbench {
namespace {

using std::chrono::milliseconds;
using testing::StartsWith;

class GpuExecutorTest : public testing::Test {
 protected:
  GpuExecutorTest() { fake_runtime = {}; }
  ~GpuExecutorTest() override { EXPECT_EQ(fake_runtime.held, 0); }
  const DriverTable driver_;
};

TEST_F(GpuExecutorTest, AConstructorThatFailsAnywhereLeavesNothing) {
  { const GpuExecutor whole(driver_); }
  const int calls = fake_runtime.calls;
  EXPECT_EQ(calls, 7);  // the device, two streams, two events, two pieces of pinned memory
  for (int fails = 0; fails < calls; ++fails) {
    fake_runtime = {.fails = fails};
    EXPECT_THROW(GpuExecutor{driver_}, SystemError) << fails;
    EXPECT_EQ(fake_runtime.held, 0) << fails;
  }
}

TEST_F(GpuExecutorTest, ARecordingThatFailsAnywhereLeavesNothing) {
  GpuExecutor executor(driver_);
  const int held = fake_runtime.held;
  fake_runtime.calls = 0;
  executor.Record([] {});
  const int calls = fake_runtime.calls;
  EXPECT_EQ(calls, 4);  // begin and end of the capture, instantiation, upload
  for (int fails = 0; fails < calls; ++fails) {
    fake_runtime.calls = 0;
    fake_runtime.fails = fails;
    EXPECT_THROW(executor.Record([] {}), SystemError) << fails;
    EXPECT_EQ(fake_runtime.held, held) << fails;
  }
  fake_runtime.fails = -1;
  EXPECT_THROW(executor.Record([] { throw MachineError("no"); }), MachineError);
  EXPECT_EQ(fake_runtime.held, held);
}

TEST_F(GpuExecutorTest, PeekCopiesOnlyWhatHasCome) {
  GpuExecutor executor(driver_);
  const std::array<std::byte, 2> from{std::byte{1}, std::byte{2}};
  std::array<std::byte, 2> to{};
  for (const cudaError_t state : {cudaErrorIllegalAddress, cudaErrorNotReady}) {
    fake_runtime.stream_state = state;
    EXPECT_FALSE(executor.Peek(to, from.data(), milliseconds(1)));
    EXPECT_EQ(to[0], std::byte{0});
    EXPECT_FALSE(executor.Abandon(milliseconds(1)));
  }
  fake_runtime.stream_state = cudaSuccess;
  EXPECT_TRUE(executor.Peek(to, from.data(), milliseconds(1)));
  EXPECT_EQ(to, from);
  EXPECT_TRUE(executor.Abandon(milliseconds(1)));
}

TEST_F(GpuExecutorTest, MemoryThatIsShortIsTheMachinesOtherErrorsNameTheCall) {
  GpuExecutor executor(driver_);
  { EXPECT_NE(executor.Allocate(256)->data(), nullptr); }
  fake_runtime.malloc_error = cudaErrorMemoryAllocation;
  EXPECT_THROW(executor.Allocate(256), MachineError);
  fake_runtime.malloc_error = cudaErrorIllegalAddress;
  try {
    executor.Allocate(256);
    ADD_FAILURE() << "no error";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), StartsWith("cudaMalloc failed on rank "));
  }
}

}  // namespace
}  // namespace mailbench
