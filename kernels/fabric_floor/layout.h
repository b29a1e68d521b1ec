// Where ranks meet to measure the floor: counters, one line each. Shared by hosts and kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/machine/annotations.h"
#include "kernels/machine/max_ranks.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// What a kernel of the floor does.
enum class FloorKind {
  kEmptyKernel,   // nothing but what makes it a link in a chain of dependent kernels
  kHop,           // a word goes to the partner and back: each round is two hops
  kPublishToAll,  // a pack goes to every rank, and one from every rank is awaited
};

// In each rank's share: counters[2][ranks], in packs that lie a line apart. No two ranks write one
// line. All words of a counter are the number of the round; zero before the first call.
struct FloorLayout {
  static constexpr std::int64_t kLinePacks = 128 / kPackBytes;

  int ranks = 0;  // 1 to kMaxRanks

  // The pack that `source` writes in the share of whoever awaits it.
  MAILBENCH_HOST_DEVICE std::int64_t Counter(FloorKind kind, int source) const {
    const int block = kind == FloorKind::kHop ? 0 : 1;
    return (static_cast<std::int64_t>(block) * ranks + source) * kLinePacks;
  }
  MAILBENCH_HOST_DEVICE std::size_t bytes() const {
    return std::size_t{2} * static_cast<std::size_t>(ranks * kLinePacks) * kPackBytes;
  }
};

// The rank that `rank` exchanges words with; itself where there is none.
MAILBENCH_HOST_DEVICE int FloorPartner(int rank, int ranks) {
  const int partner = rank ^ 1;
  return partner < ranks ? partner : rank;
}

// What a rank keeps between calls, in its own memory. Zero before the first call.
struct FloorState {
  std::uint32_t hops;  // rounds that are done, of each kind
  std::uint32_t publishes;
};

struct FloorArgs {
  FloorLayout layout;
  int rank = 0;
  std::uint32_t rounds = 1;  // of this call, the same on every rank
  FloorState* state = nullptr;
  Pack* local = nullptr;               // this rank's share
  Pack* peers[kMaxRanks] = {};         // every rank's, the own one included
  MulticastPack* multicast = nullptr;  // all of them at once; null where there is no multicast
};

}  // namespace mailbench
