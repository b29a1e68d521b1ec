#include "kernels/lamport/gather_world.h"

#include <algorithm>
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

std::vector<Pack> InputOf(int rank, std::size_t call, std::int64_t packs) {
  std::vector<Pack> input(static_cast<std::size_t>(packs));
  for (std::size_t i = 0; i < input.size(); ++i) {
    for (std::size_t word = 0; word < kPackWords; ++word) {
      input[i].word[word] = GatherWord(rank, call, i * kPackWords + word);
    }
  }
  return input;
}

}  // namespace

std::uint32_t GatherWord(int rank, std::size_t call, std::size_t index) {
  return static_cast<std::uint32_t>((static_cast<std::size_t>(rank) + 1) * 1'000'000 +
                                    call * 1'000 + index);
}

GatherWorld::GatherWorld(const Scenario& scenario, const WorldRules& rules,
                         const GatherTraits& traits, GatherThread thread)
    : world_(scenario.ranks, rules),
      layout_{scenario.ranks, *std::max_element(scenario.sizes.begin(), scenario.sizes.end())} {
  for (int rank = 0; rank < scenario.ranks; ++rank) {
    Fabric::Memory memory;
    memory.rank = rank;
    memory.name = "mailbox";
    memory.initial = kSentinel;
    memory.mailbox = true;
    memory.one_shot = traits.one_shot;
    memory.describe = [layout = layout_](std::size_t word) { return SlotOf(layout, word); };
    mailboxes_.push_back(reinterpret_cast<Pack*>(world_.fabric().Add(
        std::move(memory), static_cast<std::size_t>(layout_.packs()) * kPackWords)));
  }
  if (scenario.multicast) multicast_ = world_.AddMulticast(mailboxes_);
  calls_.resize(static_cast<std::size_t>(scenario.ranks));
  for (int rank = 0; rank < scenario.ranks; ++rank) AddRank(scenario, rank, thread, traits);
}

void GatherWorld::AddRank(const Scenario& scenario, int rank, GatherThread thread,
                          const GatherTraits& traits) {
  Fabric::Memory memory;
  memory.rank = rank;
  memory.name = "state";
  auto* state = reinterpret_cast<GatherState*>(
      world_.fabric().Add(std::move(memory), sizeof(GatherState) / sizeof(std::uint32_t)));

  std::vector<Call>& calls = calls_[static_cast<std::size_t>(rank)];
  calls.resize(scenario.sizes.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::int64_t packs = scenario.sizes[i];
    Call& call = calls[i];
    call.input = InputOf(rank, i, packs);
    call.output.resize(static_cast<std::size_t>(packs * scenario.ranks));
    AllGatherArgs args;
    args.input = call.input.data();
    args.output = call.output.data();
    args.packs = packs;
    args.state = state;
    args.mailbox.layout = layout_;
    args.mailbox.rank = rank;
    args.mailbox.local = mailboxes_[static_cast<std::size_t>(rank)];
    std::copy(mailboxes_.begin(), mailboxes_.end(), args.mailbox.peers);
    args.mailbox.multicast = multicast_;
    const int ctas = static_cast<int>((packs + scenario.threads - 1) / scenario.threads);
    const int stream = static_cast<int>(i) % scenario.streams;
    world_.AddLaunch(rank, stream, "call " + std::to_string(i), {ctas, scenario.threads},
                     traits.shared_bytes,
                     [args, thread](AdversaryThread& self) { thread(self, args); });

    std::vector<std::uint32_t> expected;
    for (int source = 0; source < scenario.ranks; ++source) {
      for (const Pack& pack : InputOf(source, i, packs)) {
        expected.insert(expected.end(), pack.word, pack.word + kPackWords);
      }
    }
    world_.Expect(rank, "output of call " + std::to_string(i), call.output.front().word,
                  std::move(expected));
  }
}

}  // namespace mailbench
