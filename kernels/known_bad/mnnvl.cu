#include "kernels/known_bad/gpu_mnnvl.h"
#include "kernels/known_bad/launch.h"
#include "kernels/known_bad/mnnvl.h"
#include "kernels/machine/gpu/dependent_launch.h"
#include "kernels/machine/gpu/gpu_machine.h"

namespace mailbench {
namespace {

template <class Rules, Publish kPublish>
__global__ void __launch_bounds__(kMnnvlThreads)
    MnnvlKernel(const __grid_constant__ MnnvlArgs args, const std::uint32_t* abort_word) {
  GpuMachine m(abort_word);
  MnnvlAllGather<Rules, kPublish>(m, args);
}

using Kernel = void (*)(const MnnvlArgs, const std::uint32_t*);

Kernel KernelFor(const MnnvlOptions& options) {
  return WithMnnvlRules(options.variant, [&]<class Rules>(Rules) -> Kernel {
    return options.publish == Publish::kMulticast ? &MnnvlKernel<Rules, Publish::kMulticast>
                                                  : &MnnvlKernel<Rules, Publish::kUnicast>;
  });
}

}  // namespace

cudaError_t LaunchMnnvl(const MnnvlArgs& args, const MnnvlOptions& options, cudaStream_t stream) {
  const AllGatherPlan plan = PlanMnnvl(args.packs);
  return LaunchDependent(KernelFor(options), plan.ctas, plan.threads, stream, args,
                         options.abort_word);
}

cudaError_t MnnvlCtasPerSm(const MnnvlOptions& options, int* ctas) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, KernelFor(options), kMnnvlThreads, 0);
}

}  // namespace mailbench
