#include "kernels/lamport/host_all_gather.h"

#include <stdexcept>
#include <string>

#include "kernels/lamport/launch.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/machine/host/host_machine.h"

namespace mailbench {
namespace {

using Kernel = void (*)(HostThread& thread, const AllGatherArgs& args);

template <Publish kPublish, int kBatch>
void Lamport(HostThread& thread, const AllGatherArgs& args) {
  HostMachine m(thread);
  AllGather<kPublish, kBatch>(m, args, *static_cast<AllGatherShared*>(thread.shared()));
}

template <Publish kPublish, int kBatch>
void Overlapped(HostThread& thread, const AllGatherArgs& args) {
  HostMachine m(thread);
  OverlappedAllGather<kPublish, kBatch, Arrival::kRelaxed, Trigger::kAfterWait>(m, args);
}

template <Publish kPublish, int kBatch>
Kernel KindFor(GatherKind kind) {
  return kind == GatherKind::kLamport ? &Lamport<kPublish, kBatch> : &Overlapped<kPublish, kBatch>;
}

template <Publish kPublish>
Kernel KernelFor(GatherKind kind, int poll_batch) {
  switch (poll_batch) {
    case 1:
      return KindFor<kPublish, 1>(kind);
    case 2:
      return KindFor<kPublish, 2>(kind);
    case 4:
      return KindFor<kPublish, 4>(kind);
    default:
      return KindFor<kPublish, 8>(kind);
  }
}

}  // namespace

HostAllGather::HostAllGather(const MailboxView& mailbox, GatherKind kind)
    : mailbox_(mailbox), kind_(kind), state_(std::make_unique<GatherState>()) {}

bool HostAllGather::Accepts(std::int64_t bytes) const {
  return AcceptsBytes(bytes, mailbox_.layout.rank_packs * kPackBytes);
}

bool HostAllGather::Enqueue(const GatherInput& input, Pack* output, HostStream& stream) {
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
  const Kernel kernel = mailbox_.multicast != nullptr
                            ? KernelFor<Publish::kMulticast>(kind_, plan.poll_batch)
                            : KernelFor<Publish::kUnicast>(kind_, plan.poll_batch);
  stream.Launch([=, staging = staging_.data()](GridRunner& runner) {
    if (!in_place) CopyRows(input, staging);
    runner.Run({plan.ctas, plan.threads}, sizeof(AllGatherShared),
               [&](HostThread& thread) { kernel(thread, args); });
  });
  return !in_place;
}

}  // namespace mailbench
