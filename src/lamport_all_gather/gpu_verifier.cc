#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_executor.h"
#include "kernels/stress/gpu_gather_check.h"
#include "src/lamport_all_gather/gather_verifier.h"

namespace mailbench {

void EnqueueFillOnGpu(Executor& executor, const CheckedBatch& batch) {
  MAILBENCH_CUDA(LaunchFillInputs(batch, executor.gpu()->stream()));
}

void EnqueueCheckOnGpu(Executor& executor, const CheckedBatch& batch) {
  MAILBENCH_CUDA(LaunchCheckOutputs(batch, executor.gpu()->stream()));
}

}  // namespace mailbench
