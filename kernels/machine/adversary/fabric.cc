#include "kernels/machine/adversary/fabric.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "kernels/machine/hex.h"

namespace mailbench {
namespace {

constexpr std::uint64_t kWheneverItLikes = std::numeric_limits<std::uint64_t>::max();

// Names do not depend on the history: the number of a word is that of its thread's store.
std::uint32_t NameOf(std::uint32_t thread, std::uint32_t store) {
  return thread * 0x9e3779b1u + store * 0x85ebca77u;
}

}  // namespace

const char* ToString(Property property) {
  switch (property) {
    case Property::kOutput:
      return "output";
    case Property::kLeftover:
      return "leftover";
    case Property::kRace:
      return "race";
    case Property::kOverrun:
      return "overrun";
    case Property::kSlack:
      return "slack";
    case Property::kStray:
      return "stray";
    case Property::kDeadlock:
      return "deadlock";
    case Property::kEndless:
      return "endless";
  }
  return "";
}

std::uint32_t* Fabric::Add(Memory memory, std::size_t words) {
  memory.words.assign(words, memory.initial);
  memories_.push_back(std::make_unique<Memory>(std::move(memory)));
  by_place_.push_back(memories_.back().get());
  std::sort(by_place_.begin(), by_place_.end(),
            [](const Memory* a, const Memory* b) { return a->words.data() < b->words.data(); });
  return memories_.back()->words.data();
}

const Fabric::Memory* Fabric::Find(const std::uint32_t* word) const {
  const auto after = std::upper_bound(by_place_.begin(), by_place_.end(), word,
                                      [](const std::uint32_t* place, const Memory* memory) {
                                        return place < memory->words.data();
                                      });
  if (after == by_place_.begin()) return nullptr;
  const Memory& memory = **(after - 1);
  return word < memory.words.data() + memory.words.size() ? &memory : nullptr;
}

void Fabric::AddPrivate(int rank, const std::uint32_t* words, std::size_t count) {
  const auto after = std::find_if(private_.begin(), private_.end(),
                                  [&](const Private& other) { return other.words > words; });
  private_.insert(after, {rank, words, count});
}

bool Fabric::IsPrivate(int rank, const std::uint32_t* word) const {
  const auto after = std::upper_bound(
      private_.begin(), private_.end(), word,
      [](const std::uint32_t* place, const Private& memory) { return place < memory.words; });
  if (after == private_.begin()) return false;
  const Private& memory = *(after - 1);
  return word < memory.words + memory.count && memory.rank == rank;
}

bool Fabric::Owns(const std::uint32_t* word) const { return Find(word) != nullptr; }

const Fabric::Memory& Fabric::MemoryOf(const std::uint32_t* word) const {
  if (const Memory* memory = Find(word)) return *memory;
  throw std::logic_error("an access to memory that is not of the world");
}

std::string Fabric::Describe(const std::uint32_t* word) const {
  const Memory& memory = MemoryOf(word);
  const auto index = static_cast<std::size_t>(word - memory.words.data());
  return "rank " + std::to_string(memory.rank) + "'s " + memory.name + ", " +
         (memory.describe ? memory.describe(index) : "word " + std::to_string(index));
}

bool Fabric::IsInitial(const std::uint32_t* word, std::uint32_t value) const {
  return value == MemoryOf(word).initial;
}

void Fabric::Reset() {
  for (const auto& memory : memories_) {
    std::fill(memory->words.begin(), memory->words.end(), memory->initial);
    if (memory->first_word) memory->words.front() = *memory->first_word;
  }
  pending_.clear();
  held_back_ = 0;
  weak_to_peers_ = 0;
  plain_in_mailboxes_ = 0;
  landable_is_current_ = false;
  std::fill(stores_.begin(), stores_.end(), 0);
  std::fill(fences_.begin(), fences_.end(), 0);
  violation.reset();
}

void Fabric::Found(Property property, std::string text, const std::uint32_t* word) {
  if (!violation) violation = {property, std::move(text), Describe(word), {}, 0};
}

bool Fabric::IsUnicast(const Pending& p) const {
  return p.alias == Alias::kUnicast || p.fences < fences_[p.who.thread];
}

bool Fabric::Sees(const Writer& who, const Pending& p) const {
  if (!IsUnicast(p)) return false;
  if (p.launch_completed) return p.who.rank == who.rank;
  return p.who.thread == who.thread ||
         (p.cta_sees && p.who.launch == who.launch && p.who.cta == who.cta);
}

template <typename Condition>
void Fabric::FlushIf(Condition condition) {
  for (std::size_t i = 0; i < pending_.size();) {
    if (condition(pending_[i])) {
      LandNow(i);
    } else {
      ++i;
    }
  }
}

std::uint32_t Fabric::Load(const Writer& who, const std::uint32_t* word) const {
  for (auto it = pending_.rbegin(); it != pending_.rend(); ++it) {
    if (it->word == word && Sees(who, *it)) return it->value;
  }
  return *word;
}

void Fabric::StorePlain(const Writer& who, std::uint32_t* word, std::uint32_t value) {
  CheckWeakAccess(who, word);
  if (rules_.store_buffers || rules_.lag > 0) {
    Store(who, Alias::kUnicast, true, word, value);
    NoteIfWeakToPeer();
    return;
  }
  FlushIf([&](const Pending& p) { return p.word == word && Sees(who, p); });
  *word = value;
  on_change(word);
}

void Fabric::StoreStrong(const Writer& who, Alias alias, std::uint32_t* word, std::uint32_t value) {
  CheckStoreToPeer(who, word);
  Store(who, alias, false, word, value);
}

void Fabric::StoreWeak(const Writer& who, Alias alias, std::uint32_t* word, std::uint32_t value) {
  CheckStoreToPeer(who, word);
  Store(who, alias, false, word, value);
  NoteIfWeakToPeer();
}

// Of the newest word on its way, which has been stored weakly.
void Fabric::NoteIfWeakToPeer() {
  Pending& p = pending_.back();
  if (p.memory->rank == p.who.rank) return;
  p.weak_to_peer = true;
  ++weak_to_peers_;
}

void Fabric::Store(const Writer& who, Alias alias, bool plain, std::uint32_t* word,
                   std::uint32_t value) {
  if (stores_.size() <= who.thread) {
    stores_.resize(who.thread + 1, 0);
    fences_.resize(who.thread + 1, 0);
  }
  pending_.push_back({who, word, &MemoryOf(word), value, NameOf(who.thread, stores_[who.thread]++),
                      kWheneverItLikes, alias, fences_[who.thread], plain});
  if (plain && pending_.back().memory->mailbox) ++plain_in_mailboxes_;
  pending_.back().may_land = MayLand(pending_.size() - 1);
  if (!pending_.back().may_land) {
    ++held_back_;
  } else if (landable_is_current_) {
    landable_.push_back(pending_.back().name);
    landable_index_.push_back(pending_.size() - 1);
  }
}

std::uint32_t Fabric::FetchAdd(const Writer& who, std::uint32_t* word, std::uint32_t value) {
  FlushIf([&](const Pending& p) { return p.word == word && Sees(who, p); });
  const std::uint32_t before = *word;
  *word = before + value;
  on_change(word);
  return before;
}

void Fabric::PassBarrier(std::uint32_t launch, std::uint32_t cta) {
  for (Pending& p : pending_) {
    if (p.who.launch == launch && p.who.cta == cta && IsUnicast(p)) p.cta_sees = true;
  }
}

void Fabric::FenceAliases(const Writer& who) {
  if (who.thread < fences_.size()) ++fences_[who.thread];  // others have stored nothing
}

void Fabric::FlushThread(const Writer& who) {
  FlushIf([&](const Pending& p) { return Sees(who, p) && !Lags(p) && p.memory->rank == who.rank; });
}

void Fabric::FlushLaunch(std::uint32_t launch, int rank, std::uint64_t completed) {
  for (Pending& p : pending_) {
    if (p.who.launch != launch || !IsUnicast(p)) continue;
    p.launch_completed = true;
    p.lands_with = completed + static_cast<std::uint64_t>(Lags(p) ? rules_.lag : 0);
  }
  FlushIf([&](const Pending& p) {
    return p.who.rank == rank && p.memory->rank == rank && p.lands_with <= completed;
  });
}

void Fabric::FlushAll() {
  while (!pending_.empty() && !violation) LandNow(0);
}

bool Fabric::Lags(const Pending& p) const { return p.plain && rules_.lag > 0 && p.memory->mailbox; }

bool Fabric::LandsBefore(const Pending& older, const Pending& p) const {
  if (older.word == p.word) {
    const bool one_order = older.alias == p.alias || older.fences < p.fences;
    if (older.who.thread == p.who.thread && one_order) return true;
    // The end of a grid is before whatever follows it.
    const bool of_earlier_launch = older.launch_completed && older.who.rank == p.who.rank;
    if (of_earlier_launch && IsUnicast(older) && IsUnicast(p)) return true;
  }
  return rules_.links_in_order && !older.plain && !p.plain && older.who.rank == p.who.rank &&
         older.memory->rank == p.memory->rank;
}

bool Fabric::MayLand(std::size_t index) const {
  const Pending& p = pending_[index];
  return std::none_of(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(index),
                      [&](const Pending& older) { return LandsBefore(older, p); });
}

const std::vector<std::uint32_t>& Fabric::landable() {
  if (landable_is_current_) return landable_;
  landable_is_current_ = true;
  landable_.clear();
  landable_index_.clear();
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (!pending_[i].may_land) continue;
    landable_.push_back(pending_[i].name);
    landable_index_.push_back(i);
  }
  return landable_;
}

std::uint32_t* Fabric::Land(std::size_t index) {
  std::uint32_t* word = pending_[landable_index_[index]].word;
  LandNow(landable_index_[index]);
  return word;
}

void Fabric::LandNow(std::size_t index) {
  const Pending p = pending_[index];
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  if (landable_is_current_ && held_back_ == 0) {  // then it lists all of pending_
    landable_.erase(landable_.begin() + static_cast<std::ptrdiff_t>(index));
    landable_index_.pop_back();
  } else {
    landable_is_current_ = false;
  }
  held_back_ -= p.may_land ? 0 : 1;
  weak_to_peers_ -= p.weak_to_peer ? 1 : 0;
  plain_in_mailboxes_ -= p.plain && p.memory->mailbox ? 1 : 0;
  for (std::size_t i = index; held_back_ > 0 && i < pending_.size(); ++i) {
    if (pending_[i].may_land || !MayLand(i)) continue;
    pending_[i].may_land = true;
    --held_back_;
  }
  const Memory& memory = *p.memory;
  if (on_event) {
    on_event(memory.rank, Hex(p.value) + " of rank " + std::to_string(p.who.rank) + " lands in " +
                              Describe(p.word));
  }
  if (memory.one_shot && !p.plain && *p.word != memory.initial) {
    Found(Property::kOverrun,
          Hex(p.value) + " of rank " + std::to_string(p.who.rank) + " landed on " + Hex(*p.word) +
              " in " + Describe(p.word),
          p.word);
  }
  *p.word = p.value;
  on_change(p.word);
}

void Fabric::CheckPoll(const Writer& who, const std::uint32_t* word) {
  if (weak_to_peers_ == 0) return;
  for (const Pending& p : pending_) {
    if (p.word != word || !p.weak_to_peer || p.who.rank == who.rank) continue;
    Found(Property::kRace,
          "rank " + std::to_string(who.rank) + " polls " + Describe(word) + " while " +
              Hex(p.value) + ", stored weakly by rank " + std::to_string(p.who.rank) +
              ", is on its way there",
          word);
    return;
  }
}

// The other side of CheckPoll and CheckWeakAccess: whoever comes second meets the first.
void Fabric::CheckStoreToPeer(const Writer& who, const std::uint32_t* word) {
  if (plain_in_mailboxes_ == 0 || MemoryOf(word).cleaned_blindly) return;
  for (const Pending& p : pending_) {
    if (p.word != word || !p.plain || p.who.rank == who.rank) continue;
    Found(Property::kRace,
          "rank " + std::to_string(who.rank) + " stores to " + Describe(word) + " while " +
              Hex(p.value) + ", stored weakly by rank " + std::to_string(p.who.rank) +
              ", is on its way there",
          word);
    return;
  }
}

void Fabric::FoundStray(const Writer& who) {
  if (violation) return;
  violation = {Property::kStray,
               "rank " + std::to_string(who.rank) +
                   " accesses what is neither a mailbox nor its own input, output or state",
               {},
               {},
               0};
}

void Fabric::CheckWeakAccess(const Writer& who, const std::uint32_t* word) {
  if (MemoryOf(word).cleaned_blindly) return;
  for (const Pending& p : pending_) {
    if (p.word != word || (p.plain && p.who.rank == who.rank)) continue;
    if (p.who.thread == who.thread && IsUnicast(p)) continue;
    Found(Property::kRace,
          "rank " + std::to_string(who.rank) + " touches " + Describe(word) + " while " +
              Hex(p.value) + " of rank " + std::to_string(p.who.rank) + " is on its way there",
          word);
    return;
  }
}

void Fabric::CheckNothingIsLeft() {
  for (const auto& memory : memories_) {
    if (!memory->one_shot) continue;
    for (const std::uint32_t& word : memory->words) {
      if (word == memory->initial) continue;
      Found(Property::kLeftover, Hex(word) + " was left in " + Describe(&word), &word);
      return;
    }
  }
}

}  // namespace mailbench
