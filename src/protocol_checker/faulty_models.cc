#include "src/protocol_checker/faulty_models.h"

#include "kernels/lamport/gather_threads.h"
#include "kernels/lamport/gather_world.h"

namespace mailbench {
namespace {

struct Unreset : Faithful {
  static constexpr std::int64_t kPackLeftUnreset = 0;
};
struct Hasty : Faithful {
  static constexpr bool kReadsInputBeforeWait = true;
};
struct Torn : Faithful {
  static constexpr int kPolledWords = 1;
};

// One CTA of each rank waits for a word that nobody stores.
void Deaf(AdversaryThread& thread, const AllGatherArgs& args) {
  AdversaryMachine m(thread);
  const std::uint32_t* word = &args.mailbox.local->word[0];
  while (m.load_volatile_u32(word) == kSentinel && m.poll_again({word, kSentinel, 0, 0, 0})) {
  }
}

}  // namespace

std::vector<Model> FaultyModels() {
  return {GatherModel("unreset", "pack 0 is not reset", &LamportThread<Unreset>),
          GatherModel("hasty", "reads its input before it waits for the grid that writes it",
                      &LamportThread<Hasty>),
          GatherModel("torn", "a pack counts as arrived with its first word", &LamportThread<Torn>),
          GatherModel("deaf", "waits for what nobody publishes", &Deaf)};
}

}  // namespace mailbench
