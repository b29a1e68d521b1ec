// Without a GPU: the linker puts the functions below in the place of the runtime's. They count what
// is held and fail where they are told to.
#include "harness/gpu/gpu_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/error.h"
#include "harness/gpu/driver.h"

namespace {

struct FakeRuntime {
  int held = 0;    // streams, events, graphs, memory
  int calls = 0;   // that make something or use it
  int fails = -1;  // the call, counted so, that fails
  cudaError_t stream_state = cudaSuccess;
  cudaError_t malloc_error = cudaSuccess;
};
FakeRuntime fake;

cudaError_t Step() { return fake.calls++ == fake.fails ? cudaErrorUnknown : cudaSuccess; }

template <typename Handle>
cudaError_t Make(Handle* handle, std::size_t bytes = 1) {
  const cudaError_t error = Step();
  if (error != cudaSuccess) return error;
  *handle = static_cast<Handle>(std::calloc(1, bytes));
  ++fake.held;
  return cudaSuccess;
}

cudaError_t Free(void* handle) {
  std::free(handle);
  --fake.held;
  return cudaSuccess;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,google-runtime-int): the linker's --wrap forms these
// names, and CUDA the types.
extern "C" {

cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return Step();
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return Make(reinterpret_cast<void**>(stream));
}
cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream) { return Free(stream); }
cudaError_t __wrap_cudaStreamQuery(cudaStream_t) { return fake.stream_state; }
cudaError_t __wrap_cudaEventCreate(cudaEvent_t* event) {
  return Make(reinterpret_cast<void**>(event));
}
cudaError_t __wrap_cudaEventDestroy(cudaEvent_t event) { return Free(event); }
cudaError_t __wrap_cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return Make(memory, bytes);
}
cudaError_t __wrap_cudaMallocHost(void** memory, std::size_t bytes) { return Make(memory, bytes); }
cudaError_t __wrap_cudaFreeHost(void* memory) { return Free(memory); }
cudaError_t __wrap_cudaMalloc(void** memory, std::size_t bytes) {
  return fake.malloc_error != cudaSuccess ? fake.malloc_error : Make(memory, bytes);
}
cudaError_t __wrap_cudaFree(void* memory) { return Free(memory); }
cudaError_t __wrap_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                   cudaStream_t) {
  std::memcpy(to, from, bytes);
  return Step();
}
cudaError_t __wrap_cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return Step(); }
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  return Make(reinterpret_cast<void**>(graph));
}
cudaError_t __wrap_cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t,
                                        unsigned long long) {
  return Make(reinterpret_cast<void**>(executable));
}
cudaError_t __wrap_cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return Step(); }
cudaError_t __wrap_cudaGraphExecDestroy(cudaGraphExec_t executable) { return Free(executable); }
cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph) { return Free(graph); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,google-runtime-int)

namespace mailbench {
namespace {

using std::chrono::milliseconds;
using testing::StartsWith;

class GpuExecutorTest : public testing::Test {
 protected:
  GpuExecutorTest() { fake = {}; }
  ~GpuExecutorTest() override { EXPECT_EQ(fake.held, 0); }
  const DriverTable driver_;
};

TEST_F(GpuExecutorTest, AConstructorThatFailsAnywhereLeavesNothing) {
  { const GpuExecutor whole(driver_); }
  const int calls = fake.calls;
  EXPECT_EQ(calls, 7);  // the device, two streams, two events, two pieces of pinned memory
  for (int fails = 0; fails < calls; ++fails) {
    fake = {.fails = fails};
    EXPECT_THROW(GpuExecutor{driver_}, SystemError) << fails;
    EXPECT_EQ(fake.held, 0) << fails;
  }
}

TEST_F(GpuExecutorTest, ARecordingThatFailsAnywhereLeavesNothing) {
  GpuExecutor executor(driver_);
  const int held = fake.held;
  fake.calls = 0;
  executor.Record([] {});
  const int calls = fake.calls;
  EXPECT_EQ(calls, 4);  // begin and end of the capture, instantiation, upload
  for (int fails = 0; fails < calls; ++fails) {
    fake.calls = 0;
    fake.fails = fails;
    EXPECT_THROW(executor.Record([] {}), SystemError) << fails;
    EXPECT_EQ(fake.held, held) << fails;
  }
  fake.fails = -1;
  EXPECT_THROW(executor.Record([] { throw MachineError("no"); }), MachineError);
  EXPECT_EQ(fake.held, held);
}

TEST_F(GpuExecutorTest, PeekCopiesOnlyWhatHasCome) {
  GpuExecutor executor(driver_);
  const std::array<std::byte, 2> from{std::byte{1}, std::byte{2}};
  std::array<std::byte, 2> to{};
  for (const cudaError_t state : {cudaErrorIllegalAddress, cudaErrorNotReady}) {
    fake.stream_state = state;
    EXPECT_FALSE(executor.Peek(to, from.data(), milliseconds(1)));
    EXPECT_EQ(to[0], std::byte{0});
    EXPECT_FALSE(executor.Abandon(milliseconds(1)));
  }
  fake.stream_state = cudaSuccess;
  EXPECT_TRUE(executor.Peek(to, from.data(), milliseconds(1)));
  EXPECT_EQ(to, from);
  EXPECT_TRUE(executor.Abandon(milliseconds(1)));
}

TEST_F(GpuExecutorTest, MemoryThatIsShortIsTheMachinesOtherErrorsNameTheCall) {
  GpuExecutor executor(driver_);
  { EXPECT_NE(executor.Allocate(256)->data(), nullptr); }
  fake.malloc_error = cudaErrorMemoryAllocation;
  EXPECT_THROW(executor.Allocate(256), MachineError);
  fake.malloc_error = cudaErrorIllegalAddress;
  try {
    executor.Allocate(256);
    ADD_FAILURE() << "no error";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), StartsWith("cudaMalloc failed on rank "));
  }
}

}  // namespace
}  // namespace mailbench
