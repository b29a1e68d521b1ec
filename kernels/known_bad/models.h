// The known-bad all-gathers as models for the checker. They leave stages dirty by design and never
// await some of their own copies, so that they are judged by their outputs, not by their mailboxes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/known_bad/mnnvl.h"
#include "kernels/lamport/gather_world.h"
#include "kernels/machine/adversary/adversary_machine.h"
#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// All of kMnnvlNames.
std::vector<Model> KnownBadModels();

// `kMulticast`: how it publishes where there is a multicast mapping.
template <class Rules, Publish kMulticast = Publish::kMulticast>
void MnnvlThread(AdversaryThread& thread, const AllGatherArgs& gather) {
  AdversaryMachine m(thread);
  MnnvlArgs args;
  args.input = gather.input;
  args.output = gather.output;
  args.packs = gather.packs;
  args.state = reinterpret_cast<MnnvlState*>(gather.state);
  args.mailbox = gather.mailbox;
  if (args.mailbox.multicast != nullptr) {
    MnnvlAllGather<Rules, kMulticast>(m, args);
  } else {
    MnnvlAllGather<Rules, Publish::kUnicast>(m, args);
  }
}

// `Rules`: as MnnvlNewer.
template <class Rules, Publish kMulticast = Publish::kMulticast>
Model MnnvlModel(std::string name, std::string summary) {
  GatherTraits traits;
  traits.one_shot = false;
  traits.cleaned_blindly =
      Rules::kSelf == SelfSlot::kRegister || Rules::kCleaned == CleanedStage::kNext;
  traits.own_words_pass = Rules::kSelf == SelfSlot::kPolled;
  traits.shared_bytes = 0;
  traits.state_bytes = sizeof(MnnvlState);
  return GatherModel(std::move(name), std::move(summary), &MnnvlThread<Rules, kMulticast>, traits);
}

}  // namespace mailbench
