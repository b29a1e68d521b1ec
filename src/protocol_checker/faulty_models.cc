#include "src/protocol_checker/faulty_models.h"

#include <memory>
#include <string>
#include <utility>

#include "kernels/lamport/gather_world.h"
#include "kernels/lamport/protocol.h"

namespace mailbench {
namespace {

constexpr int kBatch = 2;

struct Unreset : Faithful {
  static constexpr std::int64_t kPackLeftUnreset = 0;
};
struct Torn : Faithful {
  static constexpr int kPolledWords = 1;
};

template <class Rules>
void Thread(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  auto& shared = *static_cast<AllGatherShared*>(thread.shared());
  if (args.mailbox.multicast != nullptr) {
    AllGather<Publish::kMulticast, kBatch, Rules>(m, args, shared);
  } else {
    AllGather<Publish::kUnicast, kBatch, Rules>(m, args, shared);
  }
}

// One CTA of each rank waits for a word that nobody stores.
void Deaf(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  const std::uint32_t* word = &args.mailbox.local->word[0];
  while (m.load_volatile_u32(word) == kSentinel && m.poll_again({word, kSentinel, 0, 0, 0})) {
  }
}

Model Faulty(std::string name, std::string summary, GatherThread thread) {
  return {std::move(name), std::move(summary),
          [thread](const Scenario& scenario, const WorldRules& rules) {
            return std::make_unique<GatherWorld>(scenario, rules, GatherTraits{}, thread);
          }};
}

}  // namespace

std::vector<Model> FaultyModels() {
  return {Faulty("unreset", "pack 0 is not reset", &Thread<Unreset>),
          Faulty("torn", "a pack counts as arrived with its first word", &Thread<Torn>),
          Faulty("deaf", "waits for what nobody publishes", &Deaf)};
}

}  // namespace mailbench
