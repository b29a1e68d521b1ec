#include "harness/gpu/cuda_handles.h"

#include <new>

#include "harness/gpu/cuda_error.h"

namespace mailbench {

CudaStream MakeStream() {
  cudaStream_t stream = nullptr;
  MAILBENCH_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return CudaStream(stream);
}

CudaStream MakeUrgentStream() {
  int lowest = 0;
  int highest = 0;
  MAILBENCH_CUDA(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  cudaStream_t stream = nullptr;
  MAILBENCH_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
  return CudaStream(stream);
}

CudaEvent MakeEvent() {
  cudaEvent_t event = nullptr;
  MAILBENCH_CUDA(cudaEventCreate(&event));
  return CudaEvent(event);
}

CudaGraphExec Instantiate(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  MAILBENCH_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  return CudaGraphExec(executable);
}

PinnedMemory<std::uint32_t> MakePinnedWord() {
  void* word = nullptr;
  MAILBENCH_CUDA(
      cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped | cudaHostAllocPortable));
  return PinnedMemory<std::uint32_t>(new (word) std::uint32_t{0});
}

PinnedMemory<std::byte> MakePinnedBytes(std::size_t bytes) {
  void* memory = nullptr;
  MAILBENCH_CUDA(cudaMallocHost(&memory, bytes));
  return PinnedMemory<std::byte>(static_cast<std::byte*>(memory));
}

}  // namespace mailbench
