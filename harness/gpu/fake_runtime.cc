#include "harness/gpu/fake_runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace mailbench {

FakeRuntime fake_runtime;

namespace {

cudaError_t Step() {
  return fake_runtime.calls++ == fake_runtime.fails ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t Make(void** made, std::size_t bytes = 1) {
  const cudaError_t error = Step();
  if (error != cudaSuccess) return error;
  *made = std::calloc(1, bytes);
  ++fake_runtime.held;
  return cudaSuccess;
}

cudaError_t MakeStream(cudaStream_t* stream) {
  const cudaError_t error = Make(reinterpret_cast<void**>(stream));
  if (error == cudaSuccess) fake_runtime.streams.push_back(*stream);
  return error;
}

cudaError_t Log(const char* what, cudaStream_t stream) {
  const auto& streams = fake_runtime.streams;
  fake_runtime.log.push_back(
      what + std::to_string(std::find(streams.begin(), streams.end(), stream) - streams.begin()));
  return Step();
}

cudaError_t Free(void* handle) {
  std::free(handle);
  --fake_runtime.held;
  return cudaSuccess;
}

}  // namespace
}  // namespace mailbench

using mailbench::fake_runtime;
using mailbench::Free;
using mailbench::Log;
using mailbench::Make;
using mailbench::MakeStream;
using mailbench::Step;

// NOLINTBEGIN(bugprone-reserved-identifier,google-runtime-int): the linker's --wrap forms these
// names, and CUDA the types.
extern "C" {

cudaError_t __wrap_cudaGetDevice(int* device) {
  *device = 0;
  return Step();
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return MakeStream(stream);
}
cudaError_t __wrap_cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return MakeStream(stream);
}
cudaError_t __wrap_cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return Step();
}
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrL2CacheSize ? fake_runtime.l2_bytes : 0;
  return Step();
}
cudaError_t __wrap_cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return Step(); }
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*,
                                       void** arguments) {
  if (fake_runtime.on_kernel) fake_runtime.on_kernel(arguments);
  return Log("kernel ", config->stream);
}
cudaError_t __wrap_cudaEventRecord(cudaEvent_t, cudaStream_t stream) {
  return Log("event ", stream);
}
cudaError_t __wrap_cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 2;
  return Step();
}
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream) { return Log("wait ", stream); }
cudaError_t __wrap_cudaStreamDestroy(cudaStream_t stream) { return Free(stream); }
cudaError_t __wrap_cudaStreamQuery(cudaStream_t) { return fake_runtime.stream_state; }
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
  return fake_runtime.malloc_error != cudaSuccess ? fake_runtime.malloc_error : Make(memory, bytes);
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
cudaError_t __wrap_cudaGraphLaunch(cudaGraphExec_t, cudaStream_t stream) {
  return Log("graph ", stream);
}
cudaError_t __wrap_cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return Step(); }
cudaError_t __wrap_cudaGraphExecDestroy(cudaGraphExec_t executable) { return Free(executable); }
cudaError_t __wrap_cudaGraphDestroy(cudaGraph_t graph) { return Free(graph); }

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,google-runtime-int)
