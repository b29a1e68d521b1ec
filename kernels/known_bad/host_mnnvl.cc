#include "kernels/known_bad/host_mnnvl.h"

#include <stdexcept>
#include <string>

#include "kernels/known_bad/launch.h"
#include "kernels/known_bad/mnnvl.h"
#include "kernels/machine/host/host_machine.h"

namespace mailbench {
namespace {

using Kernel = void (*)(HostThread& thread, const MnnvlArgs& args);

template <class Rules, Publish kPublish>
void Mnnvl(HostThread& thread, const MnnvlArgs& args) {
  HostMachine m(thread);
  MnnvlAllGather<Rules, kPublish>(m, args);
}

template <Publish kPublish>
Kernel KernelFor(MnnvlVariant variant) {
  return WithMnnvlRules(variant,
                        []<class Rules>(Rules) -> Kernel { return &Mnnvl<Rules, kPublish>; });
}

}  // namespace

HostMnnvl::HostMnnvl(const MailboxView& mailbox, MnnvlVariant variant)
    : mailbox_(mailbox), variant_(variant), state_(std::make_unique<MnnvlState>()) {}

bool HostMnnvl::Enqueue(const GatherInput& input, Pack* output, HostStream& stream) {
  const std::int64_t capacity = mailbox_.layout.rank_packs * kPackBytes;
  if (!AcceptsBytes(input.bytes(), capacity)) {
    throw std::invalid_argument("the all-gather takes multiples of 16 bytes of up to " +
                                std::to_string(capacity) + " bytes a rank, not " +
                                std::to_string(input.bytes()));
  }
  MnnvlArgs args;
  args.output = output;
  args.packs = input.bytes() / kPackBytes;
  args.state = state_.get();
  args.mailbox = mailbox_;
  const bool in_place = ReadableInPlace(input);
  // Sized once for every call: launches that were recorded keep pointing to it.
  if (!in_place) staging_.resize(static_cast<std::size_t>(mailbox_.layout.rank_packs));
  args.input = in_place ? reinterpret_cast<const Pack*>(input.data) : staging_.data();

  const AllGatherPlan plan = PlanMnnvl(args.packs);
  const Kernel kernel = mailbox_.multicast != nullptr ? KernelFor<Publish::kMulticast>(variant_)
                                                      : KernelFor<Publish::kUnicast>(variant_);
  stream.Launch([=, staging = staging_.data()](GridRunner& runner) {
    if (!in_place) CopyRows(input, staging);
    runner.Run({plan.ctas, plan.threads}, 0, [&](HostThread& thread) { kernel(thread, args); });
  });
  return !in_place;
}

}  // namespace mailbench
