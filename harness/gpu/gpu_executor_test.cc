// Without a GPU: on a fake runtime.
#include "harness/gpu/gpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/fake_runtime.h"
#include "harness/launch/start_gate.h"
#include "harness/ranks/ranks.h"
#include "kernels/start_gate/gpu_start_gate.h"

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
  // The device, two streams, one of the highest priority, two events, four pieces of pinned memory.
  EXPECT_EQ(calls, 11);
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

// A rank of a gate whose ranks are this one alone.
class OneRank : public Ranks {
 public:
  OneRank() { Introduce(0, 1); }

 private:
  void Meet() const override { fake_runtime.log.push_back("ranks meet"); }
  void MeetWithBytes(std::span<const std::byte> own, std::span<std::byte> all) const override {
    std::copy(own.begin(), own.end(), all.begin());
  }
  std::vector<std::string> MeetWithText(const std::string& own) const override { return {own}; }
};

TEST_F(GpuExecutorTest, AllIsEnqueuedBehindTheGateBeforeItIsReleased) {
  const OneRank ranks;
  Latch latches[2];
  SymmetricView memory;
  memory.peers = {reinterpret_cast<std::byte*>(&latches[0]),
                  reinterpret_cast<std::byte*>(&latches[1])};
  for (const int rank : {0, 1}) {
    memory.rank = rank;
    StartGate gate(memory, ranks);
    GpuExecutor executor(driver_);
    fake_runtime.streams.erase(fake_runtime.streams.begin(), fake_runtime.streams.end() - 3);
    fake_runtime.log.clear();
    GateTimes* times = nullptr;
    int kernels = 0;
    fake_runtime.on_kernel = [&](void** arguments) {
      ++kernels;
      if (kernels == 1) **static_cast<std::uint64_t**>(arguments[0]) = 32;
      if (kernels == 2) times = *static_cast<GateTimes**>(arguments[2]);
    };
    const std::unique_ptr<Graph> behind =
        executor.RecordBehind(gate, [] { fake_runtime.log.emplace_back("the call"); });
    fake_runtime.on_kernel = {};
    EXPECT_EQ(fake_runtime.log,
              (std::vector<std::string>{"kernel 0", "wait 0", "kernel 0", "the call", "kernel 0"}));
    EXPECT_DOUBLE_EQ(executor.gate_clock_step_us().value(), 0.032);
    ASSERT_NE(times, nullptr);
    *times = {.released = 5'000'000, .ended = 5'002'000};
    for (int call = 0; call < 2; ++call) {
      fake_runtime.log.clear();
      EXPECT_DOUBLE_EQ(executor.TimeFromGate(gate, 1, *behind), 2e-6);
      std::vector<std::string> expected = {"graph 0", "ranks meet"};
      if (rank == 0) expected.emplace_back("kernel 2");
      expected.emplace_back("wait 0");
      EXPECT_EQ(fake_runtime.log, expected);
    }
    EXPECT_EQ(gate.NextGeneration(), 3u);
  }
}

TEST_F(GpuExecutorTest, EvictingWritesTwiceWhatTheCacheHolds) {
  static std::vector<std::size_t> words;
  words.clear();
  DriverTable driver;
  driver.MemsetD32Async = [](CUdeviceptr, unsigned, std::size_t count, CUstream) {
    words.push_back(count);
    return CUDA_SUCCESS;
  };
  GpuExecutor executor(driver);
  fake_runtime.l2_bytes = 4096;
  const int held = fake_runtime.held;
  fake_runtime.malloc_error = cudaErrorMemoryAllocation;
  EXPECT_THROW(executor.EvictL2(), MachineError);
  fake_runtime.malloc_error = cudaSuccess;
  executor.EvictL2();
  executor.EvictL2();
  EXPECT_EQ(words, (std::vector<std::size_t>{2048, 2048}));
  EXPECT_EQ(fake_runtime.held, held + 1);
}

}  // namespace
}  // namespace mailbench
