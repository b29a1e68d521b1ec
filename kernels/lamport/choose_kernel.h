// The kernel of an all-gather by its options. Compiled by nvcc.
#pragma once

#include "kernels/lamport/gather_options.h"

namespace mailbench {

// Ranks that share a GPU need all their CTAs resident. Without this bound the largest batch takes
// registers that it can do without.
inline constexpr int kLeastCtasPerSm = 16;

// `Kernels` has, as static members, Lamport<Publish, batch>() and Overlapped<Publish, batch,
// Arrival, Trigger>(), which return kernels of one type, Kernels::Kernel.
template <class Kernels>
class ChooseKernel {
 public:
  static typename Kernels::Kernel For(const GatherOptions& options, int poll_batch) {
    switch (options.publish) {
      case Publish::kUnicast:
        return BatchFor<Publish::kUnicast>(options, poll_batch);
      case Publish::kMulticast:
        return BatchFor<Publish::kMulticast>(options, poll_batch);
      default:
        return BatchFor<Publish::kMulticastAliasFence>(options, poll_batch);
    }
  }

 private:
  template <Publish kPublish>
  static typename Kernels::Kernel BatchFor(const GatherOptions& options, int poll_batch) {
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

  template <Publish kPublish, int kBatch>
  static typename Kernels::Kernel KindFor(const GatherOptions& options) {
    if (options.kind == GatherKind::kLamport) return Kernels::template Lamport<kPublish, kBatch>();
    return options.arrival == Arrival::kRelaxed
               ? OverlappedFor<kPublish, kBatch, Arrival::kRelaxed>(options.trigger)
               : OverlappedFor<kPublish, kBatch, Arrival::kAcqRel>(options.trigger);
  }

  template <Publish kPublish, int kBatch, Arrival kArrival>
  static typename Kernels::Kernel OverlappedFor(Trigger trigger) {
    return trigger == Trigger::kAfterWait
               ? Kernels::template Overlapped<kPublish, kBatch, kArrival, Trigger::kAfterWait>()
               : Kernels::template Overlapped<kPublish, kBatch, kArrival, Trigger::kAfterPublish>();
  }
};

}  // namespace mailbench
