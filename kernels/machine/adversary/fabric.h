// Memory of all ranks, and the words on their way to it. Knows nothing of fibers or launches: who
// stores is a number.
//
// A store is split into words. A word lands when Land is called for it, or when something forces
// it to (Flush...). Until then only its own thread sees it, and, once a barrier has passed, its
// CTA. Words of one thread to one address through one alias land in order; nothing else does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// A thread, as the fabric knows it.
struct Writer {
  int rank = 0;
  std::uint32_t launch = 0;  // number of its launch in the world
  std::uint32_t cta = 0;
  std::uint32_t thread = 0;  // unique in the world
};

// Through which mapping a word is stored. Between the two nothing is ordered but by FenceAliases.
enum class Alias { kUnicast, kMulticast };

class Fabric {
 public:
  explicit Fabric(const WorldRules& rules) : rules_(rules) {}

  struct Memory {
    int rank = 0;
    std::string name;
    std::uint32_t initial = 0;
    std::optional<std::uint32_t> first_word;  // where it is not `initial` at the beginning
    bool mailbox = false;                     // words of peers land here: subject to `lag`
    bool one_shot = false;  // they land on `initial` only, and in the end all is `initial` again
    // Its rank stores to it weakly without knowing what is on its way: no race, results tell.
    bool cleaned_blindly = false;
    std::function<std::string(std::size_t)> describe;  // a word by its index; may be empty
    std::vector<std::uint32_t> words;
  };
  // The words keep their place. REQUIRES: nothing has been stored yet.
  std::uint32_t* Add(Memory memory, std::size_t words);
  // Memory that one rank alone uses, weakly: an input or an output. It stays the caller's.
  void AddPrivate(int rank, const std::uint32_t* words, std::size_t count);
  // Whether the word is in one of its memories.
  bool Owns(const std::uint32_t* word) const;
  // Whether it is in private memory of the rank.
  bool IsPrivate(int rank, const std::uint32_t* word) const;
  std::string Describe(const std::uint32_t* word) const;
  // Whether the word is as at the beginning. REQUIRES: Owns.
  bool IsInitial(const std::uint32_t* word, std::uint32_t value) const;

  // As at the beginning, no word on its way.
  void Reset();

  std::uint32_t Load(const Writer& who, const std::uint32_t* word) const;
  // A weak store: of the thread's own rank.
  void StorePlain(const Writer& who, std::uint32_t* word, std::uint32_t value);
  // A strong store, possibly to another rank.
  void StoreStrong(const Writer& who, Alias alias, std::uint32_t* word, std::uint32_t value);
  // A weak store, possibly to another rank.
  void StoreWeak(const Writer& who, Alias alias, std::uint32_t* word, std::uint32_t value);
  std::uint32_t FetchAdd(const Writer& who, std::uint32_t* word, std::uint32_t value);

  // What the threads of a CTA have stored, all of them see.
  void PassBarrier(std::uint32_t launch, std::uint32_t cta);
  // A thread's fence.proxy.alias: from here on what it has stored before, through either alias, is
  // to itself, and to whoever learns of it through it, as if stored through the unicast one.
  void FenceAliases(const Writer& who);
  // A release of GPU scope: what a thread has stored through the unicast alias to its own rank's
  // memory, and what it sees of its CTA's, lands now. Stores to other ranks are not hurried:
  // nobody there synchronises with this scope.
  void FlushThread(const Writer& who);
  // A launch has completed: what it stored through the unicast alias to memory of its rank lands;
  // plain stores to mailboxes at the latest `lag` launches of the rank later. `completed`: how many
  // of the rank's have.
  void FlushLaunch(std::uint32_t launch, int rank, std::uint64_t completed);
  void FlushAll();

  // Names of the words that may land now, oldest first. Valid until anything is stored or lands.
  const std::vector<std::uint32_t>& landable();
  // REQUIRES: below landable().size(). Returns the word's place.
  std::uint32_t* Land(std::size_t index);

  // Called for every word whose value may have changed.
  std::function<void(const std::uint32_t*)> on_change;
  // Called for everything that lands, when set.
  std::function<void(int rank, const std::string&)> on_event;

  std::optional<Violation> violation;  // the first
  void CheckWeakAccess(const Writer& who, const std::uint32_t* word);
  // A strong load: must not meet a weak store of another rank.
  void CheckPoll(const Writer& who, const std::uint32_t* word);
  void CheckNothingIsLeft();
  // An access to what it neither owns nor knows as private.
  void FoundStray(const Writer& who);

 private:
  struct Pending {
    Writer who;
    std::uint32_t* word;
    const Memory* memory;  // the word's
    std::uint32_t value;
    std::uint32_t name;
    std::uint64_t lands_with;  // completed launches of the rank when it has to land, at the latest
    Alias alias;
    std::uint32_t fences;  // FenceAliases of its thread before it
    bool plain;
    bool cta_sees = false;
    bool launch_completed = false;
    bool may_land = true;
    bool weak_to_peer = false;
  };

  const Memory* Find(const std::uint32_t* word) const;  // null when there is none
  const Memory& MemoryOf(const std::uint32_t* word) const;
  void Store(const Writer& who, Alias alias, bool plain, std::uint32_t* word, std::uint32_t value);
  void NoteIfWeakToPeer();
  void CheckStoreToPeer(const Writer& who, const std::uint32_t* word);
  // Whether nothing of the unicast alias's order is lost: it was stored there, or a fence followed.
  bool IsUnicast(const Pending& p) const;
  bool Sees(const Writer& who, const Pending& p) const;
  bool Lags(const Pending& p) const;
  bool LandsBefore(const Pending& older, const Pending& p) const;
  bool MayLand(std::size_t index) const;
  void LandNow(std::size_t index);
  template <typename Condition>
  void FlushIf(Condition condition);
  void Found(Property property, std::string text, const std::uint32_t* word);

  struct Private {
    int rank;
    const std::uint32_t* words;
    std::size_t count;
  };

  WorldRules rules_;
  std::vector<Private> private_;                   // ascending by place
  std::vector<std::unique_ptr<Memory>> memories_;  // in the order of their addition
  std::vector<const Memory*> by_place_;            // ascending
  std::vector<Pending> pending_;                   // oldest first
  std::size_t held_back_ = 0;                      // of them may not land yet
  std::size_t weak_to_peers_ = 0;                  // of them are weak stores to another rank
  std::size_t plain_in_mailboxes_ = 0;             // of them are plain stores to mailboxes
  bool landable_is_current_ = false;               // as pending_ is now
  std::vector<std::uint32_t> landable_;
  std::vector<std::size_t> landable_index_;
  std::vector<std::uint32_t> stores_;  // by thread: how many words it has stored
  std::vector<std::uint32_t> fences_;  // by thread: how often it has called FenceAliases
};

}  // namespace mailbench
