// Owners of what the CUDA runtime hands out: each frees its handle on the way out, also when the
// step after it throws. Errors of freeing are dropped: there is nobody left to tell.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace mailbench {

// Frees a handle, or memory, with the function of the runtime that belongs to it.
template <auto kFree>
struct CudaFree {
  template <typename Handle>
  void operator()(Handle handle) const {
    kFree(handle);
  }
};

template <typename Handle, auto kFree>
using CudaHandle = std::unique_ptr<std::remove_pointer_t<Handle>, CudaFree<kFree>>;

using CudaStream = CudaHandle<cudaStream_t, cudaStreamDestroy>;
using CudaEvent = CudaHandle<cudaEvent_t, cudaEventDestroy>;
using CudaGraph = CudaHandle<cudaGraph_t, cudaGraphDestroy>;
using CudaGraphExec = CudaHandle<cudaGraphExec_t, cudaGraphExecDestroy>;
using DeviceMemory = std::unique_ptr<std::byte, CudaFree<cudaFree>>;
// Host memory from cudaHostAlloc or cudaMallocHost.
template <typename Value>
using PinnedMemory = std::unique_ptr<Value, CudaFree<cudaFreeHost>>;

// These throw SystemError when the call fails. REQUIRES: the device has been chosen.
CudaStream MakeStream();  // does not wait for the legacy default stream
// The same, of the highest priority: what is launched there goes before what others wait with.
CudaStream MakeUrgentStream();
CudaEvent MakeEvent();  // that can be timed
CudaGraphExec Instantiate(cudaGraph_t graph);
// One word, zero, that kernels of every device can read.
PinnedMemory<std::uint32_t> MakePinnedWord();
PinnedMemory<std::byte> MakePinnedBytes(std::size_t bytes);

}  // namespace mailbench
