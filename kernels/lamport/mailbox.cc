#include "kernels/lamport/mailbox.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace mailbench {
namespace {

bool HasPayload(const Pack& slot) {
  return std::any_of(std::begin(slot.word), std::end(slot.word),
                     [](std::uint32_t word) { return word != kSentinel; });
}

bool IsWhole(const Pack& slot) {
  return std::none_of(std::begin(slot.word), std::end(slot.word),
                      [](std::uint32_t word) { return word == kSentinel; });
}

// The first source with payload for this pack; layout.ranks when there is none.
int FirstWithPayload(const Pack* mailbox, const MailboxLayout& layout, std::uint32_t generation,
                     std::int64_t pack) {
  int source = 0;
  while (source < layout.ranks && !HasPayload(mailbox[layout.Slot(generation, source, pack)])) {
    ++source;
  }
  return source;
}

// Nothing when no slot of the generation holds payload.
std::optional<StalledGeneration> DiagnoseGeneration(const Pack* mailbox,
                                                    const MailboxLayout& layout, std::int64_t packs,
                                                    int poll_batch, std::uint32_t generation) {
  bool has_payload = false;
  std::int64_t undecided = 0;
  std::vector<std::int64_t> missing(static_cast<std::size_t>(layout.ranks));
  for (std::int64_t pack = 0; pack < packs; ++pack) {
    const int first = FirstWithPayload(mailbox, layout, generation, pack);
    const bool found = first < layout.ranks;
    const int uncollected = found ? first / poll_batch * poll_batch : layout.ranks;
    has_payload |= found;
    undecided += uncollected;
    for (int source = uncollected; source < layout.ranks; ++source) {
      const bool whole = IsWhole(mailbox[layout.Slot(generation, source, pack)]);
      missing[static_cast<std::size_t>(source)] += whole ? 0 : 1;
    }
  }
  if (!has_payload) return std::nullopt;
  StalledGeneration stalled{generation, {}, undecided};
  for (int source = 0; source < layout.ranks; ++source) {
    const std::int64_t count = missing[static_cast<std::size_t>(source)];
    if (count > 0) stalled.missing.push_back({source, count});
  }
  return stalled;
}

std::string Describe(const StalledGeneration& stalled, std::int64_t packs) {
  const std::string all = " of " + std::to_string(packs) + " packs)";
  const std::string begin = "generation " + std::to_string(stalled.generation) + ": ";
  if (stalled.missing.empty()) {
    if (stalled.undecided == 0) return begin + "every pack has arrived";
    return begin + "nothing is known to be missing; " + std::to_string(stalled.undecided) +
           " slots may have been collected";
  }
  const bool one = stalled.missing.size() == 1;
  std::string text = begin + (one ? "slots of rank " : "slots of ranks ");
  for (std::size_t i = 0; i < stalled.missing.size(); ++i) {
    if (i > 0) text += i + 1 == stalled.missing.size() ? " and " : ", ";
    text += std::to_string(stalled.missing[i].source);
    if (!one) text += " (" + std::to_string(stalled.missing[i].packs) + all;
  }
  text += " are still sentinel";
  return one ? text + " (" + std::to_string(stalled.missing[0].packs) + all : text;
}

}  // namespace

void ArmMailbox(Pack* mailbox, const MailboxLayout& layout) {
  std::fill_n(mailbox, layout.packs(), Pack{{kSentinel, kSentinel, kSentinel, kSentinel}});
}

MailboxAudit AuditMailbox(const Pack* mailbox, const MailboxLayout& layout) {
  MailboxAudit audit;
  for (std::uint32_t generation = 0; generation < kGenerations; ++generation) {
    for (int source = 0; source < layout.ranks; ++source) {
      for (std::int64_t pack = 0; pack < layout.rank_packs; ++pack) {
        const Pack& slot = mailbox[layout.Slot(generation, source, pack)];
        for (int word = 0; word < kPackWords; ++word) {
          ++audit.words;
          if (slot.word[word] == kSentinel) continue;
          if (audit.leftover++ == 0) {
            audit.first = {generation, source, pack, word, slot.word[word]};
          }
        }
      }
    }
  }
  return audit;
}

MailboxDiagnosis DiagnoseMailbox(const Pack* mailbox, const MailboxLayout& layout,
                                 std::int64_t packs, int poll_batch) {
  MailboxDiagnosis diagnosis;
  diagnosis.packs = packs;
  for (std::uint32_t generation = 0; generation < kGenerations; ++generation) {
    if (auto stalled = DiagnoseGeneration(mailbox, layout, packs, poll_batch, generation)) {
      diagnosis.generations.push_back(*std::move(stalled));
    }
  }
  // Generation 0 comes after the last.
  auto& found = diagnosis.generations;
  if (found.size() == 2 && found[0].generation == 0 && found[1].generation == kGenerations - 1) {
    std::swap(found[0], found[1]);
  }
  return diagnosis;
}

std::string Describe(const MailboxDiagnosis& diagnosis) {
  if (diagnosis.generations.empty()) {
    return "no slot holds payload: nothing has arrived, or all that has arrived was collected";
  }
  std::string text;
  for (const StalledGeneration& stalled : diagnosis.generations) {
    if (!text.empty()) text += "; ";
    text += Describe(stalled, diagnosis.packs);
  }
  return text;
}

}  // namespace mailbench
