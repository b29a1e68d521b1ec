// The Machine concept: everything that a protocol may do. A protocol is a template over a Machine
// and contains neither inline assembly nor CUDA built-ins, so that the same source runs on a GPU
// (gpu/gpu_machine.h) and, fiber by fiber, on a host processor (host/host_machine.h).
//
// Each operation is one PTX instruction and is named after it: what it does, its ordering and its
// scope; an operation without an ordering in its name is weak (PTX ISA, "Memory Consistency
// Model"). Names of operations are in lower case with underscores, like the instructions.
//
//   operation                      PTX                                   on the host
//   thread_index, cta_index        %tid.x, %ctaid.x                      of the fiber
//   cta_size, grid_size            %ntid.x, %nctaid.x                    of the launch
//   load_v4                        ld.global.v4.u32                      4 plain words
//   load_volatile_v4               ld.volatile.global.v4.u32             4 relaxed atomic words
//   load_volatile_u32              ld.volatile.global.u32                relaxed atomic
//   store_v4                       st.global.v4.u32                      4 relaxed atomic words
//   store_u32                      st.global.u32                         relaxed atomic
//   store_relaxed_sys_v4           st.relaxed.sys.global.v4.u32          4 relaxed atomic words
//   atomic_add_acq_rel_gpu         atom.add.acq_rel.gpu.global.u32       acq_rel fetch_add
//   atomic_add_relaxed_gpu         atom.add.relaxed.gpu.global.u32       relaxed fetch_add
//   reduce_add_release_gpu         red.release.gpu.global.add.u32        release fetch_add
//   fence_proxy_alias              fence.proxy.alias                     nothing: one mapping
//   cta_barrier                    barrier.cta.sync 0                    waits for the CTA's fibers
//   warp_shuffle_xor               shfl.sync.bfly.b32 (all 32 lanes)     exchange in the warp
//   warp_ballot                    vote.sync.ballot.b32 (all 32 lanes)   exchange in the warp
//   grid_dependency_wait           griddepcontrol.wait                   nothing, see below
//   grid_launch_dependents         griddepcontrol.launch_dependents      nothing
//   poll_again                     now and then ld.volatile.global.u32   lets other fibers run
//   mark, mark_look                nothing; traced: %globaltimer, stored  nothing; traced: a clock
//
// Multicast transports also need (see MulticastMachine)
//   operation                           PTX                                     on the host
//   multimem_store_relaxed_sys_v4_f32   multimem.st.relaxed.sys.global.v4.f32   late, see below
//   multimem_store_weak_v4_f32          multimem.st.weak.global.v4.f32          the same
//
// On the host a multicast store is 4 relaxed atomic words a rank, the own rank included, and each
// word lands some time after the store (host/late_stores.h), maybe when its kernel has ended.
//
// Vector accesses are single instructions but not single accesses: the memory model treats them as
// their scalar elements in unspecified order ("Vector Data-types"), so a reader may see any mixture
// of old and new 4-byte words. ld.volatile is ld.relaxed.sys that no compiler may drop or merge.
//
// Stores of a launch are visible to later launches of its stream, and to whoever has learnt, by a
// relaxed load, of a word stored by such a later launch. On a GPU this is the completion of a grid;
// on the host, where launches of a stream are serial, a fence at both ends of a launch.
#pragma once

#include <concepts>
#include <cstdint>

#include "kernels/machine/pack.h"
#include "kernels/machine/trace.h"

namespace mailbench {

template <class M>
concept Machine = requires(M& m, const Pack* from, Pack* to, Pack value, std::uint32_t* word,
                           const std::uint32_t* const_word, std::uint32_t u32, PollSite site,
                           TraceEvent event) {
  { m.thread_index() } -> std::same_as<int>;
  { m.cta_index() } -> std::same_as<int>;
  { m.cta_size() } -> std::same_as<int>;
  { m.grid_size() } -> std::same_as<int>;

  { m.load_v4(from) } -> std::same_as<Pack>;
  { m.load_volatile_v4(from) } -> std::same_as<Pack>;
  { m.load_volatile_u32(const_word) } -> std::same_as<std::uint32_t>;
  { m.store_v4(to, value) } -> std::same_as<void>;
  { m.store_u32(word, u32) } -> std::same_as<void>;
  { m.store_relaxed_sys_v4(to, value) } -> std::same_as<void>;
  // Both return the value before.
  { m.atomic_add_acq_rel_gpu(word, u32) } -> std::same_as<std::uint32_t>;
  { m.atomic_add_relaxed_gpu(word, u32) } -> std::same_as<std::uint32_t>;
  { m.reduce_add_release_gpu(word, u32) } -> std::same_as<void>;

  { m.fence_proxy_alias() } -> std::same_as<void>;
  { m.cta_barrier() } -> std::same_as<void>;
  { m.warp_shuffle_xor(u32, 1) } -> std::same_as<std::uint32_t>;
  { m.warp_ballot(true) } -> std::same_as<std::uint32_t>;
  { m.grid_dependency_wait() } -> std::same_as<void>;
  { m.grid_launch_dependents() } -> std::same_as<void>;

  // Called after a poll that saw a sentinel, by the thread that saw it. False: the run is being
  // given up, and the thread returns without touching anything more.
  { m.poll_again(site) } -> std::same_as<bool>;

  // What the thread has just done; or that it has looked at sources from the first on, and which of
  // them, by bits, it saw whole.
  { m.mark(event) } -> std::same_as<void>;
  { m.mark_look(0, u32) } -> std::same_as<void>;
};

// Whether anything but a multimem operation takes a multicast address.
template <class M, class Address = MulticastPack*>
concept TouchesMulticast = requires(M& m, Address at, Pack value) {
  m.store_v4(at, value);
}
|| requires(M& m, Address at, Pack value) { m.store_relaxed_sys_v4(at, value); }
|| requires(M& m, Address at) { m.load_v4(at); }
|| requires(M& m, Address at) { m.load_volatile_v4(at); }
|| requires(Address at, Pack value) { *at = value; }
|| requires(Address at) { at + 1; };

template <class M>
concept MulticastMachine =
    Machine<M> && !TouchesMulticast<M> && requires(M & m, MulticastPack* to, Pack value) {
  { m.multimem_store_relaxed_sys_v4_f32(to, std::int64_t{}, value) } -> std::same_as<void>;
  { m.multimem_store_weak_v4_f32(to, std::int64_t{}, value) } -> std::same_as<void>;
};

}  // namespace mailbench
