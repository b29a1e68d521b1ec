#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/machine/gpu/gpu_machine.h"

namespace mailbench {
namespace {

// Ranks that share a GPU need all their CTAs resident. Without this bound the largest batch takes
// registers that it can do without.
constexpr int kLeastCtasPerSm = 16;

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

using Kernel = void (*)(const AllGatherArgs, const std::uint32_t*);

template <Publish kPublish, int kBatch, Arrival kArrival>
Kernel OverlappedFor(Trigger trigger) {
  return trigger == Trigger::kAfterWait
             ? &OverlappedKernel<kPublish, kBatch, kArrival, Trigger::kAfterWait>
             : &OverlappedKernel<kPublish, kBatch, kArrival, Trigger::kAfterPublish>;
}

template <Publish kPublish, int kBatch>
Kernel KindFor(const GatherOptions& options) {
  if (options.kind == GatherKind::kLamport) return &LamportKernel<kPublish, kBatch>;
  return options.arrival == Arrival::kRelaxed
             ? OverlappedFor<kPublish, kBatch, Arrival::kRelaxed>(options.trigger)
             : OverlappedFor<kPublish, kBatch, Arrival::kAcqRel>(options.trigger);
}

template <Publish kPublish>
Kernel BatchFor(const GatherOptions& options, int poll_batch) {
  switch (poll_batch) {
    case 1:
      return KindFor<kPublish, 1>(options);
    case 2:
      return KindFor<kPublish, 2>(options);
    case 4:
      return KindFor<kPublish, 4>(options);
    default:
      return KindFor<kPublish, 8>(options);
  }
}

Kernel KernelFor(const GatherOptions& options, int poll_batch) {
  switch (options.publish) {
    case Publish::kUnicast:
      return BatchFor<Publish::kUnicast>(options, poll_batch);
    case Publish::kMulticast:
      return BatchFor<Publish::kMulticast>(options, poll_batch);
    default:
      return BatchFor<Publish::kMulticastAliasFence>(options, poll_batch);
  }
}

}  // namespace

cudaError_t LaunchAllGather(const AllGatherArgs& args, const GatherOptions& options,
                            cudaStream_t stream) {
  const AllGatherPlan plan = PlanAllGather(args.packs, args.mailbox.layout.ranks);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(plan.ctas));
  config.blockDim = dim3(static_cast<unsigned>(plan.threads));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, KernelFor(options, plan.poll_batch), args, options.abort_word);
}

cudaError_t AllGatherCtasPerSm(const GatherOptions& options, int poll_batch, int* ctas) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(ctas, KernelFor(options, poll_batch),
                                                       kGatherThreads, 0);
}

}  // namespace mailbench
