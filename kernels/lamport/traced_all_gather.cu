// The all-gathers' kernels with a clock, apart from those that are timed (all_gather.cu).
#include "kernels/lamport/choose_kernel.h"
#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/machine/gpu/dependent_launch.h"
#include "kernels/machine/gpu/traced_gpu_machine.h"

namespace mailbench {
namespace {

template <Publish kPublish, int kBatch>
__global__ void __launch_bounds__(kGatherThreads, kLeastCtasPerSm)
    TracedLamportKernel(const __grid_constant__ AllGatherArgs args, const std::uint32_t* abort_word,
                        const TraceView trace) {
  __shared__ AllGatherShared shared;
  TracedGpuMachine m(abort_word, trace);
  AllGather<kPublish, kBatch>(m, args, shared);
}

template <Publish kPublish, int kBatch, Arrival kArrival, Trigger kTrigger>
__global__ void __launch_bounds__(kGatherThreads, kLeastCtasPerSm)
    TracedOverlappedKernel(const __grid_constant__ AllGatherArgs args,
                           const std::uint32_t* abort_word, const TraceView trace) {
  TracedGpuMachine m(abort_word, trace);
  OverlappedAllGather<kPublish, kBatch, kArrival, kTrigger>(m, args);
}

struct Traced {
  using Kernel = void (*)(const AllGatherArgs, const std::uint32_t*, const TraceView);

  template <Publish kPublish, int kBatch>
  static Kernel Lamport() {
    return &TracedLamportKernel<kPublish, kBatch>;
  }
  template <Publish kPublish, int kBatch, Arrival kArrival, Trigger kTrigger>
  static Kernel Overlapped() {
    return &TracedOverlappedKernel<kPublish, kBatch, kArrival, kTrigger>;
  }
};

}  // namespace

cudaError_t LaunchTracedAllGather(const AllGatherArgs& args, const TraceView& trace,
                                  const GatherOptions& options, cudaStream_t stream) {
  const AllGatherPlan plan = PlanAllGather(args.packs, args.mailbox.layout.ranks);
  return LaunchDependent(ChooseKernel<Traced>::For(options, plan.poll_batch), plan.ctas,
                         plan.threads, stream, args, options.abort_word, trace);
}

cudaError_t TracedAllGatherCtasPerSm(const GatherOptions& options, int poll_batch, int* ctas) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      ctas, ChooseKernel<Traced>::For(options, poll_batch), kGatherThreads, 0);
}

}  // namespace mailbench
