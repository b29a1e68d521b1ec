#include "kernels/lamport/choose_kernel.h"
#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/machine/gpu/dependent_launch.h"
#include "kernels/machine/gpu/gpu_machine.h"

namespace mailbench {
namespace {

// The arguments stay in the constant bank (__grid_constant__): the table of peers is indexed by a
// run-time rank and would otherwise be copied to the stack.
template <Publish kPublish, int kBatch>
__global__ void __launch_bounds__(kGatherThreads, kLeastCtasPerSm)
    LamportKernel(const __grid_constant__ AllGatherArgs args, const std::uint32_t* abort_word) {
  __shared__ AllGatherShared shared;
  GpuMachine m(abort_word);
  AllGather<kPublish, kBatch>(m, args, shared);
}

template <Publish kPublish, int kBatch, Arrival kArrival, Trigger kTrigger>
__global__ void __launch_bounds__(kGatherThreads, kLeastCtasPerSm)
    OverlappedKernel(const __grid_constant__ AllGatherArgs args, const std::uint32_t* abort_word) {
  GpuMachine m(abort_word);
  OverlappedAllGather<kPublish, kBatch, kArrival, kTrigger>(m, args);
}

struct Timed {
  using Kernel = void (*)(const AllGatherArgs, const std::uint32_t*);

  template <Publish kPublish, int kBatch>
  static Kernel Lamport() {
    return &LamportKernel<kPublish, kBatch>;
  }
  template <Publish kPublish, int kBatch, Arrival kArrival, Trigger kTrigger>
  static Kernel Overlapped() {
    return &OverlappedKernel<kPublish, kBatch, kArrival, kTrigger>;
  }
};

}  // namespace

cudaError_t LaunchAllGather(const AllGatherArgs& args, const GatherOptions& options,
                            cudaStream_t stream) {
  const AllGatherPlan plan = PlanAllGather(args.packs, args.mailbox.layout.ranks);
  return LaunchDependent(ChooseKernel<Timed>::For(options, plan.poll_batch), plan.ctas,
                         plan.threads, stream, args, options.abort_word);
}

cudaError_t AllGatherCtasPerSm(const GatherOptions& options, int poll_batch, int* ctas) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      ctas, ChooseKernel<Timed>::For(options, poll_batch), kGatherThreads, 0);
}

}  // namespace mailbench
