#include "kernels/lamport/host_all_gather.h"

#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernels/lamport/launch.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/machine/host/host_machine.h"
#include "kernels/machine/host/traced_host_machine.h"

namespace mailbench {
namespace {

using Kernel = void (*)(HostThread& thread, const AllGatherArgs& args, const TraceView& trace);

// The machine that is timed, or the one that marks.
template <class M>
M MachineOf(HostThread& thread, const TraceView& trace) {
  if constexpr (std::is_same_v<M, TracedHostMachine>) {
    return M(thread, trace);
  } else {
    return M(thread);
  }
}

template <class M, Publish kPublish, int kBatch>
void Lamport(HostThread& thread, const AllGatherArgs& args, const TraceView& trace) {
  M m = MachineOf<M>(thread, trace);
  AllGather<kPublish, kBatch>(m, args, *static_cast<AllGatherShared*>(thread.shared()));
}

template <class M, Publish kPublish, int kBatch>
void Overlapped(HostThread& thread, const AllGatherArgs& args, const TraceView& trace) {
  M m = MachineOf<M>(thread, trace);
  OverlappedAllGather<kPublish, kBatch, Arrival::kRelaxed, Trigger::kAfterWait>(m, args);
}

template <class M, Publish kPublish, int kBatch>
Kernel KindFor(GatherKind kind) {
  return kind == GatherKind::kLamport ? &Lamport<M, kPublish, kBatch>
                                      : &Overlapped<M, kPublish, kBatch>;
}

template <class M, Publish kPublish>
Kernel BatchFor(GatherKind kind, int poll_batch) {
  switch (poll_batch) {
    case 1:
      return KindFor<M, kPublish, 1>(kind);
    case 2:
      return KindFor<M, kPublish, 2>(kind);
    case 4:
      return KindFor<M, kPublish, 4>(kind);
    default:
      return KindFor<M, kPublish, 8>(kind);
  }
}

template <class M>
Kernel KernelFor(bool multicast, GatherKind kind, int poll_batch) {
  return multicast ? BatchFor<M, Publish::kMulticast>(kind, poll_batch)
                   : BatchFor<M, Publish::kUnicast>(kind, poll_batch);
}

}  // namespace

HostAllGather::HostAllGather(const MailboxView& mailbox, GatherKind kind)
    : mailbox_(mailbox), kind_(kind), state_(std::make_unique<GatherState>()) {}

bool HostAllGather::Accepts(std::int64_t bytes) const {
  return AcceptsBytes(bytes, mailbox_.layout.rank_packs * kPackBytes);
}

bool HostAllGather::Enqueue(const GatherInput& input, Pack* output, HostStream& stream,
                            const TraceView& trace) {
  if (!Accepts(input.bytes())) {
    throw std::invalid_argument("the all-gather takes multiples of 16 bytes of up to " +
                                std::to_string(mailbox_.layout.rank_packs * kPackBytes) +
                                " bytes a rank, not " + std::to_string(input.bytes()));
  }
  if (stream_ == nullptr) stream_ = &stream;
  if (stream_ != &stream) {
    throw std::invalid_argument(
        "an all-gather is called on one stream only: calls on two streams could overlap");
  }

  AllGatherArgs args;
  args.output = output;
  args.packs = input.bytes() / kPackBytes;
  args.state = state_.get();
  args.mailbox = mailbox_;
  const bool in_place = ReadableInPlace(input);
  if (in_place) {
    args.input = reinterpret_cast<const Pack*>(input.data);
  } else {
    // Sized once for every call: launches that were recorded keep pointing to it.
    if (staging_.empty()) staging_.resize(static_cast<std::size_t>(mailbox_.layout.rank_packs));
    args.input = staging_.data();
  }

  const AllGatherPlan plan = PlanAllGather(args.packs, mailbox_.layout.ranks);
  const bool multicast = mailbox_.multicast != nullptr;
  const Kernel kernel = trace.times != nullptr
                            ? KernelFor<TracedHostMachine>(multicast, kind_, plan.poll_batch)
                            : KernelFor<HostMachine>(multicast, kind_, plan.poll_batch);
  stream.Launch([=, staging = staging_.data()](GridRunner& runner) {
    if (!in_place) CopyRows(input, staging);
    runner.Run({plan.ctas, plan.threads}, sizeof(AllGatherShared),
               [&](HostThread& thread) { kernel(thread, args, trace); });
  });
  return !in_place;
}

}  // namespace mailbench
