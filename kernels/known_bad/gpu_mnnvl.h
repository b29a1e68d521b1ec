// The known-bad all-gathers on a GPU: one kernel launch a call.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/known_bad/mnnvl.h"
#include "kernels/known_bad/variants.h"
#include "kernels/lamport/gather_options.h"

namespace mailbench {

struct MnnvlOptions {
  MnnvlVariant variant = MnnvlVariant::kNewer;
  Publish publish = Publish::kUnicast;
  const std::uint32_t* abort_word = nullptr;  // as in GatherOptions
};

// As LaunchAllGather, with the state that mnnvl.h asks for. The multicast stores of
// PublishStore::kWeak stand for plain ones (kernels/machine/gpu/gpu_machine.h). REQUIRES:
// MnnvlRefusal has nothing against it. Throws std::invalid_argument for sizes that PlanMnnvl
// refuses; other errors are those of the launch.
cudaError_t LaunchMnnvl(const MnnvlArgs& args, const MnnvlOptions& options, cudaStream_t stream);

// How many CTAs of the kernel one multiprocessor of the current device holds at a time. Errors are
// those of cudaOccupancyMaxActiveBlocksPerMultiprocessor.
cudaError_t MnnvlCtasPerSm(const MnnvlOptions& options, int* ctas);

}  // namespace mailbench
