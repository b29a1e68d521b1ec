// What the kernels written by hand share: *_by_hand.cu, the all-gathers of kernels/lamport as one
// would write them in CUDA for their own sake, without a Machine. They are what the generated code
// is measured against by kernels/lamport/ptx_test.py; compiled to PTX for it and never launched.
// Nothing of kernels/lamport is included: what is compared shares no line.
#pragma once

#include <cstdint>

namespace by_hand {

constexpr int kThreads = 64;
constexpr int kLeastCtasPerSm = 16;
constexpr int kMaxRanks = 72;
constexpr unsigned kSentinel = 0x80000000u;
constexpr unsigned kPollsPerAbortCheck = 1024;

// What the kernels are templates of. The test knows the enumerators by their numbers.
enum class Publish { kUnicast, kMulticast, kMulticastAliasFence };
enum class Arrival { kRelaxed, kAcqRel };
enum class Trigger { kAfterWait, kAfterPublish };

struct State {
  unsigned generation;
  unsigned arrivals;
};

struct Arguments {
  const uint4* input;  // [packs]
  uint4* output;       // [ranks][packs]
  std::int64_t packs;
  State* state;
  int ranks;
  std::int64_t capacity;  // of a slot, in packs
  int rank;
  uint4* mailbox;           // [3][ranks][capacity]
  uint4* peers[kMaxRanks];  // the same of every rank
  void* multicast;          // of all ranks at once
};

using Kernel = void (*)(Arguments, const unsigned* abort_word);

__device__ __forceinline__ uint4 Load(const uint4* from) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return v;
}

__device__ __forceinline__ uint4 LoadVolatile(const uint4* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return v;
}

__device__ __forceinline__ unsigned LoadVolatile(const unsigned* from) {
  unsigned v;
  asm volatile("ld.volatile.global.u32 %0, [%1];"
               : "=r"(v)
               : "l"(__cvta_generic_to_global(from))
               : "memory");
  return v;
}

__device__ __forceinline__ void Store(uint4* to, uint4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

__device__ __forceinline__ void Store(unsigned* to, unsigned v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(to)), "r"(v) : "memory");
}

__device__ __forceinline__ void StoreRelaxedSys(uint4* to, uint4 v) {
  asm volatile(
      "st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
      "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
      : "memory");
}

__device__ __forceinline__ void MulticastStore(void* to, std::int64_t pack, uint4 v) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to) + 16 * static_cast<std::size_t>(pack)),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

__device__ __forceinline__ void AliasFence() { asm volatile("fence.proxy.alias;" ::: "memory"); }

__device__ __forceinline__ unsigned AtomicAddAcqRel(unsigned* to, unsigned v) {
  unsigned before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(to)), "r"(v)
               : "memory");
  return before;
}

__device__ __forceinline__ unsigned AtomicAddRelaxed(unsigned* to, unsigned v) {
  unsigned before;
  asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(to)), "r"(v)
               : "memory");
  return before;
}

__device__ __forceinline__ void CtaBarrier() { asm volatile("barrier.cta.sync 0;" ::: "memory"); }

__device__ __forceinline__ void GridWait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__device__ __forceinline__ void GridTrigger() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

__device__ __forceinline__ unsigned Sanitised(unsigned word) {
  return word == kSentinel ? 0 : word;
}

__device__ __forceinline__ bool IsMissing(uint4 v) {
  return v.x == kSentinel || v.y == kSentinel || v.z == kSentinel || v.w == kSentinel;
}

__device__ __forceinline__ void Advance(State* state, unsigned generation) {
  Store(&state->generation, (generation + 1) % 3);
  Store(&state->arrivals, 0);
}

// Loads the pack and stores it into the slot behind `first_slot` that is the rank's, on all ranks.
template <Publish kPublish>
__device__ __forceinline__ void PublishInput(const Arguments& a, std::int64_t first_slot,
                                             std::int64_t pack) {
  uint4 v = Load(a.input + pack);
  v = {Sanitised(v.x), Sanitised(v.y), Sanitised(v.z), Sanitised(v.w)};
  const std::int64_t slot = (first_slot + a.rank) * a.capacity + pack;
  if (kPublish == Publish::kUnicast) {
    for (int i = 0, peer = a.rank; i < a.ranks; ++i) {
      if (++peer == a.ranks) peer = 0;
      StoreRelaxedSys(a.peers[peer] + slot, v);
    }
  } else {
    MulticastStore(a.multicast, slot, v);
    if (kPublish == Publish::kMulticastAliasFence) AliasFence();
  }
}

// False: aborted.
template <int kBatch>
__device__ __forceinline__ bool Collect(const Arguments& a, const unsigned* abort_word,
                                        std::int64_t first_slot, std::int64_t pack) {
  unsigned polls = 0;
  for (int source = 0; source < a.ranks; source += kBatch) {
    uint4* const slots = a.mailbox + (first_slot + source) * a.capacity + pack;
    uint4* const outputs = a.output + source * a.packs + pack;
    const int last = min(a.ranks - source, kBatch) - 1;
    const unsigned stride = static_cast<unsigned>(a.capacity);
    const unsigned farthest = last * stride;
    uint4 v[kBatch];
    while (true) {
#pragma unroll
      for (int i = 0; i < kBatch; ++i) v[i] = LoadVolatile(slots + min(i * stride, farthest));
      bool missing = false;
#pragma unroll
      for (int i = kBatch - 1; i >= 0; --i) missing |= IsMissing(v[i]);
      if (!missing) break;
      if (++polls % kPollsPerAbortCheck == 0 && abort_word != nullptr &&
          LoadVolatile(abort_word) != 0) {
        return false;
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (i > last) break;
      Store(outputs + i * a.packs, v[i]);
      Store(slots + i * a.capacity, make_uint4(kSentinel, kSentinel, kSentinel, kSentinel));
    }
  }
  return true;
}

}  // namespace by_hand
