// What a call launches, decided by pure functions of its size: the same on every rank.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/machine/pack.h"

namespace mailbench {

inline constexpr int kGatherThreads = 64;

struct AllGatherPlan {
  int ctas = 0;
  int threads = kGatherThreads;  // a CTA; one a pack, those beyond the last pack idle
  int poll_batch = 0;            // sources whose slots one thread keeps in flight: 1, 2, 4 or 8

  std::int64_t grid_threads() const { return std::int64_t{ctas} * threads; }
};

// Whether a call of `bytes` a rank can run on a mailbox of `capacity_bytes` a rank: 1 to capacity
// bytes, a multiple of 16. From the size alone, so that every rank decides alike.
bool AcceptsBytes(std::int64_t bytes, std::int64_t capacity_bytes);

// REQUIRES: packs >= 1 and 1 <= ranks <= kMaxRanks; otherwise std::invalid_argument.
AllGatherPlan PlanAllGather(std::int64_t packs, int ranks);

// How ranks share a GPU.
struct CoResidency {
  int ranks_per_gpu = 1;
  int multiprocessors = 0;
  int ctas_per_multiprocessor = 0;  // of the call's kernel: AllGatherCtasPerSm
  // Ranks run other kernels, too, while peers are in the call: an eighth of the places is theirs.
  bool beside_others = false;
};

// Why ranks that share a GPU cannot make the call, with the arithmetic; "" when they can. CTAs of
// one rank poll for those of another, and keep their places meanwhile: all ranks' CTAs must be
// resident at once, those of each call and, already waiting for it, of its dependent.
// One rank a GPU is never refused: its dependents start only after all its CTAs have started, and
// those start in order (M5 of kernels/PROTOCOLS.md), so that none waits for one without a place.
std::string CoResidencyRefusal(const AllGatherPlan& plan, const CoResidency& gpu);

// "512 CTAs x 64 threads, poll batch 4".
std::string ToString(const AllGatherPlan& plan);

}  // namespace mailbench
