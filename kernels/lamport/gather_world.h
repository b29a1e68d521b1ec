// A world in which ranks gather: what the checker runs an all-gather in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lamport/layout.h"
#include "kernels/lamport/protocol.h"
#include "kernels/machine/adversary/adversary_machine.h"
#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/world.h"

namespace mailbench {

// The thread of one call: the arguments of its rank are those of protocol.h. args.mailbox.multicast
// is null where the scenario has no multicast: the thread publishes through what there is.
using GatherThread = void (*)(AdversaryThread&, const AllGatherArgs&);

// The word that `rank` contributes to call `call` at `index`. No word twice, but now and then the
// sentinel, which arrives as 0.
std::uint32_t GatherWord(int rank, std::size_t call, std::size_t index);

// What is special about the world of a gather.
struct GatherTraits {
  bool own_words_pass = true;    // the own block comes through the mailbox, sanitised as others do
  bool one_shot = true;          // the mailbox is all sentinel between calls
  bool cleaned_blindly = false;  // as Fabric::Memory has it
  std::size_t shared_bytes = sizeof(AllGatherShared);
  std::size_t state_bytes = sizeof(GatherState);  // what args.state really points to
  std::uint32_t (*word)(int rank, std::size_t call, std::size_t index) = &GatherWord;  // of inputs
  int mailboxes = 1;  // of a rank, that its calls take turns on; there is one state
  std::uint32_t first_generation = 0;  // in the state of every rank
  // The host computes a call's generation and passes it with the arguments: state->generation is
  // that of the recorded call, and nobody advances it.
  bool host_generation = false;
};

// Everything that lives as long as the world: inputs, outputs, views.
class GatherWorld : public ModelWorld {
 public:
  GatherWorld(const Scenario& scenario, const WorldRules& rules, const GatherTraits& traits,
              GatherThread thread);
  World& world() override { return world_; }

 private:
  struct Call {
    std::string name;
    int stream = 0;
    std::vector<Pack> input;
    std::vector<Pack> output;
  };
  void AddMailboxes(const GatherTraits& traits, bool multicast);
  void AddRank(const Scenario& scenario, int rank, GatherThread thread, const GatherTraits& traits);
  GatherState* AddState(int rank, const GatherTraits& traits, std::uint32_t generation);
  // A kernel that writes the call's input into memory of the world. Returns where.
  const Pack* AddProducer(int rank, const Call& call);

  World world_;
  MailboxLayout layout_;
  std::vector<std::vector<Pack*>> mailboxes_;  // as traits say; by rank
  std::vector<MulticastPack*> multicasts_;     // null where the scenario has no multicast
  std::vector<std::vector<Call>> calls_;       // by rank
};

// A protocol of which every call is one launch of `thread` on each rank.
Model GatherModel(std::string name, std::string summary, GatherThread thread,
                  const GatherTraits& traits = {});

}  // namespace mailbench
