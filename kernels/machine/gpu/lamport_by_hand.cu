// What LamportKernel of kernels/lamport/all_gather.cu is measured against: see by_hand.h.
#include "kernels/machine/gpu/by_hand.h"

namespace by_hand {

template <Publish kPublish, int kBatch>
__global__ void __launch_bounds__(kThreads, kLeastCtasPerSm)
    LamportByHand(const __grid_constant__ Arguments a, const unsigned* abort_word) {
  __shared__ unsigned shared_generation;
  const std::int64_t pack =
      static_cast<std::int64_t>(blockIdx.x) * blockDim.x + static_cast<int>(threadIdx.x);
  GridWait();

  if (threadIdx.x == 0) {
    const unsigned current = LoadVolatile(&a.state->generation);
    shared_generation = current;
    if (AtomicAddAcqRel(&a.state->arrivals, 1) == gridDim.x - 1) Advance(a.state, current);
  }
  CtaBarrier();
  const std::int64_t first_slot = static_cast<std::int64_t>(shared_generation) * a.ranks;

  if (pack < a.packs) PublishInput<kPublish>(a, first_slot, pack);
  GridTrigger();
  if (pack >= a.packs) return;
  Collect<kBatch>(a, abort_word, first_slot, pack);
}

// The test wants every kernel that all_gather.cu has.
template <Publish kPublish>
constexpr Kernel kBatches[] = {LamportByHand<kPublish, 1>, LamportByHand<kPublish, 2>,
                               LamportByHand<kPublish, 4>, LamportByHand<kPublish, 8>};

template const Kernel kBatches<Publish::kUnicast>[4];
template const Kernel kBatches<Publish::kMulticast>[4];
template const Kernel kBatches<Publish::kMulticastAliasFence>[4];

}  // namespace by_hand
