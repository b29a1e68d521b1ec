#include "kernels/lamport/models.h"

#include <memory>
#include <string>

#include "kernels/lamport/gather_world.h"
#include "kernels/lamport/overlapped.h"
#include "kernels/lamport/protocol.h"

namespace mailbench {
namespace {

// Two sources a batch: three ranks already need two batches.
constexpr int kBatch = 2;

template <Publish kPublish>
void Lamport(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  AllGather<kPublish, kBatch>(m, args, *static_cast<AllGatherShared*>(thread.shared()));
}

template <Publish kPublish, Arrival kArrival>
void Overlapped(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  OverlappedAllGather<kPublish, kBatch, kArrival, Trigger::kAfterWait>(m, args);
}

Model Gather(std::string name, std::string summary, GatherThread multicast, GatherThread unicast) {
  return {std::move(name), std::move(summary),
          [multicast, unicast](const Scenario& scenario, const WorldRules& rules) {
            return std::make_unique<GatherWorld>(scenario, rules, GatherTraits{},
                                                 scenario.multicast ? multicast : unicast);
          }};
}

}  // namespace

std::vector<Model> LamportModels() {
  return {
      Gather("lamport", "the Lamport all-gather", &Lamport<Publish::kMulticast>,
             &Lamport<Publish::kUnicast>),
      Gather("overlapped", "arrivals counted, relaxed, while the packs are on their way",
             &Overlapped<Publish::kMulticast, Arrival::kRelaxed>,
             &Overlapped<Publish::kUnicast, Arrival::kRelaxed>),
      Gather("overlapped-acq-rel", "the same with acquire and release",
             &Overlapped<Publish::kMulticast, Arrival::kAcqRel>,
             &Overlapped<Publish::kUnicast, Arrival::kAcqRel>),
  };
}

}  // namespace mailbench
