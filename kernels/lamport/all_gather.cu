#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "kernels/machine/gpu/gpu_machine.h"

namespace mailbench {
namespace {

// The arguments stay in the constant bank (__grid_constant__): the table of peers is indexed by a
// run-time rank and would otherwise be copied to the stack.
template <Publish kPublish, int kBatch>
__global__ void __launch_bounds__(kGatherThreads)
    AllGatherKernel(const __grid_constant__ AllGatherArgs args) {
  __shared__ AllGatherShared shared;
  GpuMachine m;
  AllGather<kPublish, kBatch>(m, args, shared);
}

using Kernel = void (*)(const AllGatherArgs);

template <Publish kPublish>
Kernel KernelFor(int poll_batch) {
  switch (poll_batch) {
    case 1:
      return &AllGatherKernel<kPublish, 1>;
    case 2:
      return &AllGatherKernel<kPublish, 2>;
    case 4:
      return &AllGatherKernel<kPublish, 4>;
    default:
      return &AllGatherKernel<kPublish, 8>;
  }
}

}  // namespace

cudaError_t LaunchAllGather(const AllGatherArgs& args, Publish publish, cudaStream_t stream) {
  const AllGatherPlan plan = PlanAllGather(args.packs, args.mailbox.layout.ranks);
  const Kernel kernel = publish == Publish::kMulticast
                            ? KernelFor<Publish::kMulticast>(plan.poll_batch)
                            : KernelFor<Publish::kUnicast>(plan.poll_batch);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(plan.ctas));
  config.blockDim = dim3(static_cast<unsigned>(plan.threads));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, args);
}

}  // namespace mailbench
