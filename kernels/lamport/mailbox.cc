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
                                                    const MailboxLayout& layout,
                                                    const PackRange& packs, int poll_batch,
                                                    std::uint32_t generation) {
  std::int64_t known = 0;
  std::int64_t undecided = 0;
  std::vector<std::int64_t> missing(static_cast<std::size_t>(layout.ranks));
  for (std::int64_t pack = 0; pack < packs.most; ++pack) {
    const int first = FirstWithPayload(mailbox, layout, generation, pack);
    const bool found = first < layout.ranks;
    const int uncollected = found ? first / poll_batch * poll_batch : layout.ranks;
    if (found) known = pack + 1;
    if (found || pack < packs.least) undecided += uncollected;
    for (int source = uncollected; source < layout.ranks; ++source) {
      const bool whole = IsWhole(mailbox[layout.Slot(generation, source, pack)]);
      missing[static_cast<std::size_t>(source)] += whole ? 0 : 1;
    }
  }
  if (known == 0) return std::nullopt;
  StalledGeneration stalled{generation, std::max(known, packs.least), {}, undecided};
  for (int source = 0; source < layout.ranks; ++source) {
    const std::int64_t count = missing[static_cast<std::size_t>(source)];
    if (count > 0) stalled.missing.push_back({source, count});
  }
  return stalled;
}

std::string Describe(const StalledGeneration& stalled, bool same_size) {
  const std::string all =
      " of " + std::to_string(stalled.packs) + (same_size ? " packs)" : " packs or more)");
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

// The generation of the oldest call that payload waits for in any mailbox: ranks are at most one
// call apart, so there are two of them at most, of which 0 comes after the last. Nothing where
// there is none, or where there are more.
std::optional<std::uint32_t> OldestGeneration(std::span<const RankMailbox> mailboxes) {
  bool seen[kGenerations] = {};
  for (const RankMailbox& mailbox : mailboxes) {
    for (const StalledGeneration& stalled : mailbox.diagnosis.generations) {
      seen[stalled.generation] = true;
    }
  }
  std::optional<std::uint32_t> oldest;
  for (std::uint32_t generation = 0; generation < kGenerations; ++generation) {
    if (!seen[generation] || seen[(generation + kGenerations - 1) % kGenerations]) continue;
    oldest = generation;
  }
  return oldest;
}

// What was seen of one call in the mailbox of one rank.
struct Wait {
  int rank;
  bool same_size;
  StalledGeneration seen;
};

bool Misses(const Wait& wait, int rank) {
  return std::any_of(wait.seen.missing.begin(), wait.seen.missing.end(),
                     [rank](const MissingSource& source) { return source.source == rank; });
}

// One a rank whose mailbox holds payload of that call.
std::vector<Wait> WaitsOf(std::span<const RankMailbox> mailboxes, std::uint32_t generation) {
  std::vector<Wait> waits;
  std::vector<int> past;  // have collected all of it
  for (const RankMailbox& mailbox : mailboxes) {
    const auto& generations = mailbox.diagnosis.generations;
    const auto found = std::find_if(
        generations.begin(), generations.end(),
        [&](const StalledGeneration& stalled) { return stalled.generation == generation; });
    if (found == generations.end()) {
      past.push_back(mailbox.rank);
    } else {
      waits.push_back({mailbox.rank, mailbox.diagnosis.same_size, *found});
    }
  }
  for (Wait& wait : waits) {
    std::erase_if(wait.seen.missing, [&](const MissingSource& source) {
      return std::find(past.begin(), past.end(), source.source) != past.end();
    });
  }
  return waits;
}

bool SameSources(const Wait& a, const Wait& b) {
  return std::equal(
      a.seen.missing.begin(), a.seen.missing.end(), b.seen.missing.begin(), b.seen.missing.end(),
      [](const MissingSource& x, const MissingSource& y) { return x.source == y.source; });
}

// Of those who wait for somebody, the ones that nobody else waits for; all of them where there is
// no such one.
std::vector<Wait> Believable(const std::vector<Wait>& waits) {
  std::vector<Wait> waiting;
  std::copy_if(waits.begin(), waits.end(), std::back_inserter(waiting),
               [](const Wait& wait) { return !wait.seen.missing.empty(); });
  std::vector<Wait> innocent;
  std::copy_if(waiting.begin(), waiting.end(), std::back_inserter(innocent), [&](const Wait& wait) {
    return std::none_of(waiting.begin(), waiting.end(), [&](const Wait& other) {
      return other.rank != wait.rank && Misses(other, wait.rank);
    });
  });
  return innocent.empty() ? waiting : innocent;
}

std::string WhoseMailbox(int rank) { return "rank " + std::to_string(rank) + "'s mailbox"; }

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
                                 const PackRange& packs, int poll_batch) {
  MailboxDiagnosis diagnosis;
  diagnosis.same_size = packs.least == packs.most;
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
    text += Describe(stalled, diagnosis.same_size);
  }
  return text;
}

std::string DescribeWait(std::span<const RankMailbox> mailboxes) {
  std::string text;
  const auto add = [&text](const std::string& line) { text += (text.empty() ? "" : "\n") + line; };
  const std::optional<std::uint32_t> oldest = OldestGeneration(mailboxes);
  if (!oldest) {
    for (const RankMailbox& mailbox : mailboxes) {
      if (mailbox.diagnosis.generations.empty()) continue;
      add(WhoseMailbox(mailbox.rank) + ", " + Describe(mailbox.diagnosis));
    }
    if (!text.empty() || mailboxes.empty()) return text;
    return mailboxes.size() == 1
               ? WhoseMailbox(mailboxes.front().rank) + " holds no payload: no call waits there"
               : "no mailbox holds payload: no call waits there";
  }
  const std::vector<Wait> waits = WaitsOf(mailboxes, *oldest);
  std::vector<Wait> told;
  for (const Wait& wait : Believable(waits)) {
    if (std::none_of(told.begin(), told.end(),
                     [&](const Wait& other) { return SameSources(wait, other); })) {
      told.push_back(wait);
    }
  }
  for (const Wait& wait : told.empty() ? waits : told) {
    add(WhoseMailbox(wait.rank) + ", " + Describe(wait.seen, wait.same_size) +
        (told.empty() ? ", and was not collected" : ""));
  }
  return text;
}

}  // namespace mailbench
