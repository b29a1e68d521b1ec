// The host machine: a kernel's thread on a host processor. Words that ranks share are accessed as
// C++ atomics with the ordering that the operation's name says and no more, so that nothing rests
// on the memory order of one processor; a vector access is four separate words.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/machine/host/grid.h"
#include "kernels/machine/host/late_stores.h"
#include "kernels/machine/machine.h"

namespace mailbench {

static_assert(std::atomic_ref<std::uint32_t>::is_always_lock_free,
              "words shared by processes cannot hide behind a lock");

class HostMachine {
 public:
  explicit HostMachine(HostThread& thread) : thread_(&thread) {}

  int thread_index() const { return thread_->thread_index(); }
  int cta_index() const { return thread_->cta_index(); }
  int cta_size() const { return thread_->dims().threads; }
  int grid_size() const { return thread_->dims().ctas; }

  Pack load_v4(const Pack* from) const { return *from; }
  Pack load_volatile_v4(const Pack* from) const {
    Pack p;
    for (int i = 0; i < kPackWords; ++i) p.word[i] = load_volatile_u32(&from->word[i]);
    return p;
  }
  std::uint32_t load_volatile_u32(const std::uint32_t* from) const {
    return Word(from).load(std::memory_order_relaxed);
  }
  void store_v4(Pack* to, Pack p) const { store_relaxed_sys_v4(to, p); }
  void store_u32(std::uint32_t* to, std::uint32_t value) const {
    Word(to).store(value, std::memory_order_relaxed);
  }
  void store_relaxed_sys_v4(Pack* to, Pack p) const {
    for (int i = 0; i < kPackWords; ++i) {
      Word(&to->word[i]).store(p.word[i], std::memory_order_relaxed);
    }
  }
  void multimem_store_relaxed_sys_v4_f32(MulticastPack* base, std::int64_t pack, Pack p) const {
    HostMulticast::At(base).Store(pack, p);
  }
  void multimem_store_weak_v4_f32(MulticastPack* base, std::int64_t pack, Pack p) const {
    HostMulticast::At(base).Store(pack, p);
  }
  std::uint32_t atomic_add_acq_rel_gpu(std::uint32_t* to, std::uint32_t value) const {
    return Word(to).fetch_add(value, std::memory_order_acq_rel);
  }
  std::uint32_t atomic_add_relaxed_gpu(std::uint32_t* to, std::uint32_t value) const {
    return Word(to).fetch_add(value, std::memory_order_relaxed);
  }
  void reduce_add_release_gpu(std::uint32_t* to, std::uint32_t value) const {
    Word(to).fetch_add(value, std::memory_order_release);
  }

  void fence_proxy_alias() const {}  // a process has one mapping of a mailbox

  void cta_barrier() const { thread_->CtaBarrier(); }
  std::uint32_t warp_shuffle_xor(std::uint32_t value, int lane_mask) const {
    return thread_->WarpExchange(value)[(thread_index() ^ lane_mask) & 31];
  }
  std::uint32_t warp_ballot(bool vote) const {
    const std::uint32_t* votes = thread_->WarpExchange(vote ? 1 : 0);
    std::uint32_t lanes = 0;
    for (int lane = 0; lane < 32; ++lane) lanes |= votes[lane] << lane;
    return lanes;
  }

  void grid_dependency_wait() const {}    // launches of a host stream run one after the other
  void grid_launch_dependents() const {}  // likewise
  bool poll_again(const PollSite& site) const { return thread_->PollAgain(site); }
  void mark(TraceEvent /*event*/) const {}
  void mark_look(int /*first*/, std::uint32_t /*present*/) const {}

 private:
  static std::atomic_ref<std::uint32_t> Word(const std::uint32_t* word) {
    return std::atomic_ref<std::uint32_t>(*const_cast<std::uint32_t*>(word));
  }

  HostThread* thread_;
};

static_assert(MulticastMachine<HostMachine>);

}  // namespace mailbench
