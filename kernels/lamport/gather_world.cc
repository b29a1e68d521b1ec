#include "kernels/lamport/gather_world.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

namespace mailbench {
namespace {

std::string SlotOf(const MailboxLayout& layout, std::size_t word) {
  const auto pack = static_cast<std::int64_t>(word / kPackWords);
  const std::int64_t slot = pack / layout.rank_packs;
  return "generation " + std::to_string(slot / layout.ranks) + ", slot of rank " +
         std::to_string(slot % layout.ranks) + ", pack " +
         std::to_string(pack % layout.rank_packs) + ", word " + std::to_string(word % kPackWords);
}

std::vector<Pack> InputOf(const GatherTraits& traits, int rank, std::size_t call,
                          std::int64_t packs) {
  std::vector<Pack> input(static_cast<std::size_t>(packs));
  for (std::size_t i = 0; i < input.size(); ++i) {
    for (std::size_t word = 0; word < kPackWords; ++word) {
      input[i].word[word] = traits.word(rank, call, i * kPackWords + word);
    }
  }
  return input;
}

// What every rank gets to see of it.
std::uint32_t Gathered(std::uint32_t word) { return word == kSentinel ? 0 : word; }

void Produce(AdversaryThread& thread, const std::vector<Pack>& values, Pack* input) {
  AdversaryMachine m(thread);
  m.grid_dependency_wait();
  m.grid_launch_dependents();
  for (std::size_t i = 0; i < values.size(); ++i) m.store_v4(input + i, values[i]);
}

}  // namespace

std::uint32_t GatherWord(int rank, std::size_t call, std::size_t index) {
  if (index % kPackWords == 1 && (static_cast<std::size_t>(rank) + call) % 4 == 2) return kSentinel;
  return static_cast<std::uint32_t>((static_cast<std::size_t>(rank) + 1) * 1'000'000 +
                                    call * 1'000 + index);
}

GatherWorld::GatherWorld(const Scenario& scenario, const WorldRules& rules,
                         const GatherTraits& traits, GatherThread thread)
    : world_(scenario.ranks, rules),
      layout_{scenario.ranks, *std::max_element(scenario.sizes.begin(), scenario.sizes.end())} {
  for (int i = 0; i < traits.mailboxes; ++i) AddMailboxes(traits, scenario.multicast);
  calls_.resize(static_cast<std::size_t>(scenario.ranks));
  for (int rank = 0; rank < scenario.ranks; ++rank) AddRank(scenario, rank, thread, traits);
  // L7: a rank completes a call only when every peer has begun it. Producers are launches, too.
  // Mailboxes that are left dirty are judged by results alone.
  if (scenario.streams == 1 && traits.one_shot) world_.LimitLead(scenario.producer ? 2 : 1);
}

void GatherWorld::AddMailboxes(const GatherTraits& traits, bool multicast) {
  std::vector<Pack*> of_ranks;
  for (int rank = 0; rank < world_.ranks(); ++rank) {
    Fabric::Memory memory;
    memory.rank = rank;
    memory.name = "mailbox";
    memory.initial = kSentinel;
    memory.mailbox = true;
    memory.one_shot = traits.one_shot;
    memory.cleaned_blindly = traits.cleaned_blindly;
    memory.describe = [layout = layout_](std::size_t word) { return SlotOf(layout, word); };
    of_ranks.push_back(reinterpret_cast<Pack*>(world_.fabric().Add(
        std::move(memory), static_cast<std::size_t>(layout_.packs()) * kPackWords)));
  }
  multicasts_.push_back(multicast ? world_.AddMulticast(of_ranks) : nullptr);
  mailboxes_.push_back(std::move(of_ranks));
}

GatherState* GatherWorld::AddState(int rank, const GatherTraits& traits, std::uint32_t generation) {
  Fabric::Memory memory;
  memory.rank = rank;
  memory.name = "state";
  memory.first_word = generation;
  static_assert(offsetof(GatherState, generation) == 0);
  return reinterpret_cast<GatherState*>(
      world_.fabric().Add(std::move(memory), traits.state_bytes / sizeof(std::uint32_t)));
}

const Pack* GatherWorld::AddProducer(int rank, const Call& call) {
  Fabric::Memory memory;
  memory.rank = rank;
  memory.name = "input of " + call.name;
  auto* input = reinterpret_cast<Pack*>(
      world_.fabric().Add(std::move(memory), call.input.size() * kPackWords));
  world_.AddLaunch(rank, call.stream, "producer of " + call.name, {1, 1}, 0,
                   [&call, input](AdversaryThread& self) { Produce(self, call.input, input); });
  return input;
}

void GatherWorld::AddRank(const Scenario& scenario, int rank, GatherThread thread,
                          const GatherTraits& traits) {
  GatherState* state = AddState(rank, traits, traits.first_generation);
  std::vector<Call>& calls = calls_[static_cast<std::size_t>(rank)];
  const std::size_t recorded = scenario.sizes.size();
  calls.resize(recorded * static_cast<std::size_t>(scenario.replays));
  std::vector<GatherState*> host_states;
  for (std::size_t i = 0; i < recorded && traits.host_generation; ++i) {
    host_states.push_back(AddState(rank, traits, static_cast<std::uint32_t>(i) % kGenerations));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::int64_t packs = scenario.sizes[i % recorded];
    Call& call = calls[i];
    call.name = "call " + std::to_string(i);
    call.stream = static_cast<int>(i) % scenario.streams;
    call.input = InputOf(traits, rank, i, packs);
    world_.fabric().AddPrivate(rank, call.input.front().word, call.input.size() * kPackWords);
    call.output.resize(static_cast<std::size_t>(packs * scenario.ranks));
    AllGatherArgs args;
    args.input = scenario.producer ? AddProducer(rank, call) : call.input.data();
    args.output = call.output.data();
    args.packs = packs;
    args.state = traits.host_generation ? host_states[i % recorded] : state;
    args.mailbox.layout = layout_;
    args.mailbox.rank = rank;
    const std::vector<Pack*>& mailboxes = mailboxes_[i % mailboxes_.size()];
    args.mailbox.local = mailboxes[static_cast<std::size_t>(rank)];
    std::copy(mailboxes.begin(), mailboxes.end(), args.mailbox.peers);
    args.mailbox.multicast = multicasts_[i % mailboxes_.size()];
    const int ctas = static_cast<int>((packs + scenario.threads - 1) / scenario.threads);
    world_.AddLaunch(rank, call.stream, call.name, {ctas, scenario.threads}, traits.shared_bytes,
                     [args, thread](AdversaryThread& self) { thread(self, args); });

    std::vector<std::uint32_t> expected;
    for (int source = 0; source < scenario.ranks; ++source) {
      for (const Pack& pack : InputOf(traits, source, i, packs)) {
        for (const std::uint32_t word : pack.word) {
          const bool passes = source != rank || traits.own_words_pass;
          expected.push_back(passes ? Gathered(word) : word);
        }
      }
    }
    world_.Expect(rank, "output of " + call.name, call.output.front().word, std::move(expected));
  }
}

Model GatherModel(std::string name, std::string summary, GatherThread thread,
                  const GatherTraits& traits) {
  return {std::move(name), std::move(summary),
          [thread, traits](const Scenario& scenario, const WorldRules& rules) {
            return std::make_unique<GatherWorld>(scenario, rules, traits, thread);
          }};
}

}  // namespace mailbench
