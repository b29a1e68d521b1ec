// The adversary machine: a kernel's thread in a World. Every operation on memory that others see is
// a point where the strategy may let something else happen first.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/machine/adversary/world.h"
#include "kernels/machine/machine.h"

namespace mailbench {

class AdversaryMachine {
 public:
  explicit AdversaryMachine(AdversaryThread& thread)
      : thread_(&thread), fabric_(&thread.world().fabric()) {}

  int thread_index() const { return thread_->thread_index(); }
  int cta_index() const { return thread_->cta_index(); }
  int cta_size() const { return thread_->dims().threads; }
  int grid_size() const { return thread_->dims().ctas; }

  Pack load_v4(const Pack* from) const {
    if (fabric_->IsPrivate(who().rank, from->word)) return *from;
    thread_->Step();
    if (!IsMemory(from->word)) return {};
    for (const std::uint32_t& word : from->word) fabric_->CheckWeakAccess(who(), &word);
    return Words(from);
  }
  Pack load_volatile_v4(const Pack* from) const {
    thread_->Step();
    if (!IsMemory(from->word)) return {};
    for (const std::uint32_t& word : from->word) fabric_->CheckPoll(who(), &word);
    return Words(from);
  }
  std::uint32_t load_volatile_u32(const std::uint32_t* from) const {
    thread_->Step();
    if (!IsMemory(from)) return 0;
    const std::uint32_t value = fabric_->Load(who(), from);
    if (thread_->traced()) NoteWord("reads", value, from);
    return value;
  }
  void store_v4(Pack* to, Pack p) const {
    if (fabric_->IsPrivate(who().rank, to->word)) {
      *to = p;
      if (thread_->traced()) NoteResult(p);
      return;
    }
    thread_->Step();
    if (!IsMemory(to->word)) return;
    if (thread_->traced()) NoteStore(p, to);
    for (int i = 0; i < kPackWords; ++i) fabric_->StorePlain(who(), &to->word[i], p.word[i]);
  }
  void store_u32(std::uint32_t* to, std::uint32_t value) const {
    thread_->Step();
    if (!IsMemory(to)) return;
    if (thread_->traced()) NoteWord("stores", value, to);
    fabric_->StorePlain(who(), to, value);
  }
  void store_relaxed_sys_v4(Pack* to, Pack p) const {
    thread_->Step();
    if (!IsMemory(to->word)) return;
    if (thread_->traced()) NotePublish("publishes", p, to);
    StoreWords(Alias::kUnicast, to, p);
  }
  void multimem_store_relaxed_sys_v4_f32(MulticastPack* base, std::int64_t pack, Pack p) const {
    thread_->Step();
    for (Pack* mailbox : thread_->world().mailboxes(base)) {
      if (!IsMemory(mailbox[pack].word)) return;
      if (thread_->traced()) NotePublish("publishes", p, mailbox + pack);
      StoreWords(Alias::kMulticast, mailbox + pack, p);
    }
  }
  // Lands like the relaxed one, in the own mailbox too; but whoever polls meanwhile races with it.
  void multimem_store_weak_v4_f32(MulticastPack* base, std::int64_t pack, Pack p) const {
    thread_->Step();
    for (Pack* mailbox : thread_->world().mailboxes(base)) {
      if (!IsMemory(mailbox[pack].word)) return;
      if (thread_->traced()) NotePublish("publishes, weakly,", p, mailbox + pack);
      for (int i = 0; i < kPackWords; ++i) {
        fabric_->StoreWeak(who(), Alias::kMulticast, &mailbox[pack].word[i], p.word[i]);
      }
    }
  }
  std::uint32_t atomic_add_acq_rel_gpu(std::uint32_t* to, std::uint32_t value) const {
    thread_->Step();
    if (!IsMemory(to)) return 0;
    fabric_->FlushThread(who());
    if (thread_->traced()) NoteWord("adds, acquire and release,", value, to);
    return fabric_->FetchAdd(who(), to, value);
  }
  std::uint32_t atomic_add_relaxed_gpu(std::uint32_t* to, std::uint32_t value) const {
    thread_->Step();
    if (!IsMemory(to)) return 0;
    if (thread_->traced()) NoteWord("adds, relaxed,", value, to);
    return fabric_->FetchAdd(who(), to, value);
  }
  void reduce_add_release_gpu(std::uint32_t* to, std::uint32_t value) const {
    atomic_add_acq_rel_gpu(to, value);  // nobody sees what the acquire adds
  }

  void fence_proxy_alias() const {
    thread_->Step();
    if (thread_->traced()) thread_->Note("orders its aliases");
    fabric_->FenceAliases(who());
  }

  void cta_barrier() const { thread_->CtaBarrier(); }
  void grid_dependency_wait() const {
    thread_->DependencyWait();
    if (thread_->traced()) thread_->Note("knows that the grid before has completed");
  }
  void grid_launch_dependents() const {
    thread_->LaunchDependents();
    if (thread_->traced()) thread_->Note("permits the next grid to start");
  }
  bool poll_again(const PollSite& site) const {
    thread_->PollAgain(site);
    return true;
  }
  void mark(TraceEvent /*event*/) const {}
  void mark_look(int /*first*/, std::uint32_t /*present*/) const {}
  // Throw std::logic_error: no protocol under the checker uses them yet.
  std::uint32_t warp_shuffle_xor(std::uint32_t value, int lane_mask) const;
  std::uint32_t warp_ballot(bool vote) const;

 private:
  const Writer& who() const { return thread_->writer(); }
  bool IsMemory(const std::uint32_t* word) const;  // otherwise it is told as stray
  Pack Words(const Pack* from) const {
    Pack p;
    for (int i = 0; i < kPackWords; ++i) p.word[i] = fabric_->Load(who(), &from->word[i]);
    if (thread_->traced()) NoteLook(p, from);
    return p;
  }
  void StoreWords(Alias alias, Pack* to, const Pack& p) const {
    for (int i = 0; i < kPackWords; ++i) {
      fabric_->StoreStrong(who(), alias, &to->word[i], p.word[i]);
    }
  }

  // For the trace, in words.
  void NoteLook(const Pack& p, const Pack* from) const;
  void NoteResult(const Pack& p) const;
  void NoteStore(const Pack& p, const Pack* to) const;
  void NotePublish(const std::string& does, const Pack& p, const Pack* to) const;
  void NoteWord(const std::string& does, std::uint32_t value, const std::uint32_t* word) const;

  AdversaryThread* thread_;
  Fabric* fabric_;
};

static_assert(MulticastMachine<AdversaryMachine>);

}  // namespace mailbench
