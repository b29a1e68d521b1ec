// The gpu machine: one PTX instruction a function, all inline assembly of the project. Compiled by
// nvcc only. Instruction forms were checked with ptxas 13.0 for sm_90, sm_100 and sm_103.
//
// Every assembly statement that orders or touches shared memory clobbers "memory", so that the
// compiler neither moves nor merges accesses across it.
#pragma once

#include <cstdint>

#include "kernels/machine/annotations.h"
#include "kernels/machine/machine.h"

namespace mailbench {

class GpuMachine {
 public:
  // `abort_word`, which the host may set meanwhile: once it is not 0, polls give up. Null: never.
  MAILBENCH_DEVICE explicit GpuMachine(const std::uint32_t* abort_word) : abort_word_(abort_word) {}

  MAILBENCH_DEVICE int thread_index() const { return static_cast<int>(threadIdx.x); }
  MAILBENCH_DEVICE int cta_index() const { return static_cast<int>(blockIdx.x); }
  MAILBENCH_DEVICE int cta_size() const { return static_cast<int>(blockDim.x); }
  MAILBENCH_DEVICE int grid_size() const { return static_cast<int>(gridDim.x); }

  // A weak load: of data that no other thread writes during the launch.
  MAILBENCH_DEVICE Pack load_v4(const Pack* from) const {
    Pack p;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3])
                 : "l"(Global(from))
                 : "memory");
    return p;
  }

  // The poll. Each of the four words may be old or new on its own.
  MAILBENCH_DEVICE Pack load_volatile_v4(const Pack* from) const {
    Pack p;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(p.word[0]), "=r"(p.word[1]), "=r"(p.word[2]), "=r"(p.word[3])
                 : "l"(Global(from))
                 : "memory");
    return p;
  }

  MAILBENCH_DEVICE std::uint32_t load_volatile_u32(const std::uint32_t* from) const {
    std::uint32_t value;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(Global(from)) : "memory");
    return value;
  }

  MAILBENCH_DEVICE void store_v4(Pack* to, Pack p) const {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(Global(to)), "r"(p.word[0]),
                 "r"(p.word[1]), "r"(p.word[2]), "r"(p.word[3])
                 : "memory");
  }

  MAILBENCH_DEVICE void store_u32(std::uint32_t* to, std::uint32_t value) const {
    asm volatile("st.global.u32 [%0], %1;" ::"l"(Global(to)), "r"(value) : "memory");
  }

  // Into one rank's mailbox: strong, since that rank polls the words meanwhile, and of system
  // scope, since it may be another GPU.
  MAILBENCH_DEVICE void store_relaxed_sys_v4(Pack* to, Pack p) const {
    asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(Global(to)),
                 "r"(p.word[0]), "r"(p.word[1]), "r"(p.word[2]), "r"(p.word[3])
                 : "memory");
  }

  // Into every rank's mailbox, the own one included. 16-byte multicast stores exist for float
  // vectors only ("multimem.st"); the bits move unchanged.
  MAILBENCH_DEVICE void multimem_store_relaxed_sys_v4_f32(MulticastPack* base, std::int64_t pack,
                                                          Pack p) const {
    asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                     Global(base) + static_cast<std::uint64_t>(pack) * kPackBytes),
                 "r"(p.word[0]), "r"(p.word[1]), "r"(p.word[2]), "r"(p.word[3])
                 : "memory");
  }

  // What known-bad kernels publish with. They store plainly (st.global.v4) through the multicast
  // mapping, which PTX does not allow ("Multimem Addresses"); this is the instruction with the same
  // ordering, weak, that it does.
  MAILBENCH_DEVICE void multimem_store_weak_v4_f32(MulticastPack* base, std::int64_t pack,
                                                   Pack p) const {
    asm volatile("multimem.st.weak.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                     Global(base) + static_cast<std::uint64_t>(pack) * kPackBytes),
                 "r"(p.word[0]), "r"(p.word[1]), "r"(p.word[2]), "r"(p.word[3])
                 : "memory");
  }

  // Orders this thread's accesses before it with those after it where both are to one location
  // through different mappings (PTX ISA, "membar / fence", .proxy.alias).
  MAILBENCH_DEVICE void fence_proxy_alias() const {
    asm volatile("fence.proxy.alias;" ::: "memory");
  }

  MAILBENCH_DEVICE std::uint32_t atomic_add_acq_rel_gpu(std::uint32_t* to,
                                                        std::uint32_t value) const {
    std::uint32_t before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(Global(to)), "r"(value)
                 : "memory");
    return before;
  }

  // Nothing waits for the value until it is used.
  MAILBENCH_DEVICE std::uint32_t atomic_add_relaxed_gpu(std::uint32_t* to,
                                                        std::uint32_t value) const {
    std::uint32_t before;
    asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(Global(to)), "r"(value)
                 : "memory");
    return before;
  }

  MAILBENCH_DEVICE void reduce_add_release_gpu(std::uint32_t* to, std::uint32_t value) const {
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(Global(to)), "r"(value)
                 : "memory");
  }

  MAILBENCH_DEVICE void cta_barrier() const { asm volatile("barrier.cta.sync 0;" ::: "memory"); }

  MAILBENCH_DEVICE std::uint32_t warp_shuffle_xor(std::uint32_t value, int lane_mask) const {
    std::uint32_t other;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(other)
                 : "r"(value), "r"(lane_mask));
    return other;
  }

  MAILBENCH_DEVICE std::uint32_t warp_ballot(bool vote) const {
    std::uint32_t lanes;
    asm volatile(
        "{\n\t.reg .pred vote;\n\tsetp.ne.u32 vote, %1, 0;\n\t"
        "vote.sync.ballot.b32 %0, vote, 0xffffffff;\n\t}"
        : "=r"(lanes)
        : "r"(static_cast<std::uint32_t>(vote)));
    return lanes;
  }

  // Returns when the grids that this one depends on have completed and their writes are visible.
  MAILBENCH_DEVICE void grid_dependency_wait() const {
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }

  // Permits the dependent grid to be scheduled; says nothing of memory.
  MAILBENCH_DEVICE void grid_launch_dependents() const {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }

  // The abort word lies in host memory, behind a bus: a thread looks at it rarely, and only after
  // polls in vain.
  MAILBENCH_DEVICE bool poll_again(const PollSite&) {
    if (++polls_ % kPollsPerAbortCheck != 0 || abort_word_ == nullptr) return true;
    return load_volatile_u32(abort_word_) == 0;
  }

  MAILBENCH_DEVICE void mark(TraceEvent /*event*/) const {}
  MAILBENCH_DEVICE void mark_look(int /*first*/, std::uint32_t /*present*/) const {}

 private:
  static constexpr std::uint32_t kPollsPerAbortCheck = 1024;

  template <class T>
  MAILBENCH_DEVICE static std::uint64_t Global(const T* pointer) {
    return reinterpret_cast<std::uint64_t>(__cvta_generic_to_global(pointer));
  }

  const std::uint32_t* abort_word_;
  std::uint32_t polls_ = 0;  // of this thread, in vain
};

static_assert(MulticastMachine<GpuMachine>);

}  // namespace mailbench
