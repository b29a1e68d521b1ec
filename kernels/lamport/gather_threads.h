// The threads of the all-gathers' models, with any rules.
#pragma once

#include "kernels/lamport/gather_options.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/lamport/protocol.h"
#include "kernels/lamport/rules.h"
#include "kernels/machine/adversary/adversary_machine.h"

namespace mailbench {

// Two sources a batch: three ranks already need two batches.
inline constexpr int kModelBatch = 2;

// `kMulticast`: how they publish where there is a multicast mapping.
template <class Rules = Faithful, Publish kMulticast = Publish::kMulticast>
void LamportThread(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  auto& shared = *static_cast<AllGatherShared*>(thread.shared());
  if (args.mailbox.multicast != nullptr) {
    AllGather<kMulticast, kModelBatch, Rules>(m, args, shared);
  } else {
    AllGather<Publish::kUnicast, kModelBatch, Rules>(m, args, shared);
  }
}

template <class Rules = Faithful, Arrival kArrival = Arrival::kRelaxed,
          Trigger kTrigger = Trigger::kAfterWait, Publish kMulticast = Publish::kMulticast>
void OverlappedThread(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  if (args.mailbox.multicast != nullptr) {
    OverlappedAllGather<kMulticast, kModelBatch, kArrival, kTrigger, Rules>(m, args);
  } else {
    OverlappedAllGather<Publish::kUnicast, kModelBatch, kArrival, kTrigger, Rules>(m, args);
  }
}

}  // namespace mailbench
