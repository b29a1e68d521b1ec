// What OverlappedKernel of kernels/lamport/all_gather.cu is measured against: see by_hand.h.
#include "kernels/machine/gpu/by_hand.h"

namespace by_hand {

template <Publish kPublish, int kBatch, Arrival kArrival, Trigger kTrigger>
__global__ void __launch_bounds__(kThreads, kLeastCtasPerSm)
    OverlappedByHand(const __grid_constant__ Arguments a, const unsigned* abort_word) {
  const std::int64_t pack =
      static_cast<std::int64_t>(blockIdx.x) * blockDim.x + static_cast<int>(threadIdx.x);
  GridWait();
  if (kTrigger == Trigger::kAfterWait) GridTrigger();

  unsigned generation = 0;
  std::int64_t first_slot = 0;
  if (pack < a.packs) {
    generation = LoadVolatile(&a.state->generation);
    first_slot = static_cast<std::int64_t>(generation) * a.ranks;
    PublishInput<kPublish>(a, first_slot, pack);
  }
  if (kTrigger == Trigger::kAfterPublish) GridTrigger();
  CtaBarrier();
  if (pack >= a.packs) return;

  unsigned before = 0;
  if (threadIdx.x == 0) {
    before = kArrival == Arrival::kRelaxed ? AtomicAddRelaxed(&a.state->arrivals, 1)
                                           : AtomicAddAcqRel(&a.state->arrivals, 1);
  }
  if (!Collect<kBatch>(a, abort_word, first_slot, pack)) return;
  if (threadIdx.x == 0 && before == gridDim.x - 1) Advance(a.state, generation);
}

// The test wants every kernel that all_gather.cu has.
template <Publish kPublish, int kBatch>
constexpr Kernel kRules[] = {
    OverlappedByHand<kPublish, kBatch, Arrival::kRelaxed, Trigger::kAfterWait>,
    OverlappedByHand<kPublish, kBatch, Arrival::kRelaxed, Trigger::kAfterPublish>,
    OverlappedByHand<kPublish, kBatch, Arrival::kAcqRel, Trigger::kAfterWait>,
    OverlappedByHand<kPublish, kBatch, Arrival::kAcqRel, Trigger::kAfterPublish>};

template const Kernel kRules<Publish::kUnicast, 1>[4];
template const Kernel kRules<Publish::kUnicast, 2>[4];
template const Kernel kRules<Publish::kUnicast, 4>[4];
template const Kernel kRules<Publish::kUnicast, 8>[4];
template const Kernel kRules<Publish::kMulticast, 1>[4];
template const Kernel kRules<Publish::kMulticast, 2>[4];
template const Kernel kRules<Publish::kMulticast, 4>[4];
template const Kernel kRules<Publish::kMulticast, 8>[4];
template const Kernel kRules<Publish::kMulticastAliasFence, 1>[4];
template const Kernel kRules<Publish::kMulticastAliasFence, 2>[4];
template const Kernel kRules<Publish::kMulticastAliasFence, 4>[4];
template const Kernel kRules<Publish::kMulticastAliasFence, 8>[4];

}  // namespace by_hand
