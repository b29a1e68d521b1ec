// The check of all-gathers on a GPU: see gather_check.h. CTAs of kCheckThreads threads that wait
// for nobody.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/stress/gather_check.h"

namespace mailbench {

cudaError_t LaunchFillInputs(const CheckedBatch& batch, cudaStream_t stream);
cudaError_t LaunchCheckOutputs(const CheckedBatch& batch, cudaStream_t stream);

}  // namespace mailbench
