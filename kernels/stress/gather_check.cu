#include <algorithm>

#include "kernels/stress/gpu_gather_check.h"

namespace mailbench {
namespace {

// As many as run at a time anyway.
constexpr int kMostCtas = 1024;
// Registers of a CTA stay below a sixteenth of a multiprocessor's: it finds room beside gathers.
constexpr int kLeastCtasPerSm = 16;

struct GpuWorker {
  int cta = static_cast<int>(blockIdx.x);
  int ctas = static_cast<int>(gridDim.x);
  int thread = static_cast<int>(threadIdx.x);
  int threads = static_cast<int>(blockDim.x);

  __device__ std::uint32_t Add(std::uint32_t* to, std::uint32_t value) const {
    return atomicAdd(to, value);
  }
  __device__ std::uint64_t Add(std::uint64_t* to, std::uint64_t value) const {
    return atomicAdd(reinterpret_cast<unsigned long long*>(to), value);  // NOLINT: CUDA's type
  }
  __device__ void Sync() const { __syncthreads(); }
};

__global__ void __launch_bounds__(kCheckThreads, kLeastCtasPerSm)
    FillInputsKernel(const __grid_constant__ CheckedBatch batch) {
  FillInputs(GpuWorker(), batch);
}

__global__ void __launch_bounds__(kCheckThreads, kLeastCtasPerSm)
    CheckOutputsKernel(const __grid_constant__ CheckedBatch batch) {
  CheckOutputs(GpuWorker(), batch);
}

}  // namespace

cudaError_t LaunchFillInputs(const CheckedBatch& batch, cudaStream_t stream) {
  FillInputsKernel<<<std::min(batch.fill_count, kMostCtas), kCheckThreads, 0, stream>>>(batch);
  return cudaGetLastError();
}

cudaError_t LaunchCheckOutputs(const CheckedBatch& batch, cudaStream_t stream) {
  CheckOutputsKernel<<<std::min(batch.check_count, kMostCtas), kCheckThreads, 0, stream>>>(batch);
  return cudaGetLastError();
}

}  // namespace mailbench
