// What lamport/all_gather.cu is measured against: the Lamport all-gather of one pack a thread with
// multicast stores, as one would write it in CUDA for its own sake, without a Machine. Compiled to
// PTX by kernels/lamport/ptx_test.py's test only, and never launched.
#include <cstdint>

namespace by_hand {

constexpr int kThreads = 64;
constexpr int kMaxRanks = 72;
constexpr unsigned kSentinel = 0x80000000u;
constexpr unsigned kPollsPerAbortCheck = 1024;

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

__device__ __forceinline__ void MulticastStore(void* to, std::int64_t pack, uint4 v) {
  asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                   __cvta_generic_to_global(to) + 16 * static_cast<std::size_t>(pack)),
               "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}

__device__ __forceinline__ unsigned AtomicAddAcqRel(unsigned* to, unsigned v) {
  unsigned before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(__cvta_generic_to_global(to)), "r"(v)
               : "memory");
  return before;
}

__device__ __forceinline__ unsigned Sanitised(unsigned word) {
  return word == kSentinel ? 0 : word;
}

__device__ __forceinline__ bool IsMissing(uint4 v) {
  return v.x == kSentinel || v.y == kSentinel || v.z == kSentinel || v.w == kSentinel;
}

template <int kBatch>
__global__ void __launch_bounds__(kThreads, 16)
    LamportByHand(const __grid_constant__ Arguments a, const unsigned* abort_word) {
  __shared__ unsigned shared_generation;
  const std::int64_t pack =
      static_cast<std::int64_t>(blockIdx.x) * blockDim.x + static_cast<int>(threadIdx.x);
  asm volatile("griddepcontrol.wait;" ::: "memory");

  if (threadIdx.x == 0) {
    const unsigned current = LoadVolatile(&a.state->generation);
    shared_generation = current;
    if (AtomicAddAcqRel(&a.state->arrivals, 1) == gridDim.x - 1) {
      Store(&a.state->generation, (current + 1) % 3);
      Store(&a.state->arrivals, 0);
    }
  }
  asm volatile("barrier.cta.sync 0;" ::: "memory");
  const std::int64_t first_slot = static_cast<std::int64_t>(shared_generation) * a.ranks;

  if (pack < a.packs) {
    const uint4 v = Load(a.input + pack);
    MulticastStore(a.multicast, (first_slot + a.rank) * a.capacity + pack,
                   {Sanitised(v.x), Sanitised(v.y), Sanitised(v.z), Sanitised(v.w)});
  }
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (pack >= a.packs) return;

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
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      if (i > last) break;
      Store(outputs + i * a.packs, v[i]);
      Store(slots + i * a.capacity, make_uint4(kSentinel, kSentinel, kSentinel, kSentinel));
    }
  }
}

template __global__ void LamportByHand<1>(const __grid_constant__ Arguments, const unsigned*);
template __global__ void LamportByHand<2>(const __grid_constant__ Arguments, const unsigned*);
template __global__ void LamportByHand<4>(const __grid_constant__ Arguments, const unsigned*);
template __global__ void LamportByHand<8>(const __grid_constant__ Arguments, const unsigned*);

}  // namespace by_hand
