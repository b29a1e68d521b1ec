#include "harness/memory/region_use.h"

#include <cstdint>

namespace mailbench {
namespace {

using Word = std::uint32_t;

// In each share: a word of each rank by multicast, one of the predecessor by a store to the peer,
// and one of each rank by the kernel that comes last.
constexpr std::size_t kFromPeer = kRegionRanks;
constexpr std::size_t kFromKernels = kFromPeer + 1;
constexpr std::size_t kLooked = 2048;  // two pages, each of which begins with garbage
constexpr Word kFirst = 100;

Word* Words(std::byte* share) { return reinterpret_cast<Word*>(share); }

std::size_t Place(int rank) { return static_cast<std::size_t>(rank); }

Word Of(int rank) { return kFirst + static_cast<Word>(rank); }

}  // namespace

void RegionUse::Prepare(RegionRank& rank) {
  MulticastPack*& kernel = kernels_[Place(rank.rank)];
  rank.calls.CtxSynchronize = [&rank, &kernel, right = rank.calls.CtxSynchronize]() -> CUresult {
    const CUresult code = right();
    if (code != CUDA_SUCCESS || kernel == nullptr) return code;
    const Word word = Of(rank.rank);
    rank.fake.MulticastStore(kernel, &word, sizeof word);
    return right();
  };
}

void RegionUse::Run(RegionRank& rank, const SymmetricView& view) {
  const Word* const own = Words(view.local());
  const Word word = Of(rank.rank);
  const auto complain_unless = [&](bool right, const char* complaint) {
    if (!right) rank.complaints.emplace_back(complaint);
  };
  // What no rank has stored to yet.
  for (std::size_t i = kFromKernels; i < kLooked; ++i) {
    complain_unless(own[i] == 0, "a word is not zero at first");
  }
  const int next = (rank.rank + 1) % kRegionRanks;
  Words(view.peers[Place(next)])[kFromPeer] = word;
  if (view.multicast != nullptr) {
    rank.fake.MulticastStore(OffsetMulticast(view.multicast, Place(rank.rank) * sizeof word), &word,
                             sizeof word);
  }
  rank.ranks.Barrier();
  complain_unless(own[kFromPeer] == Of((rank.rank + kRegionRanks - 1) % kRegionRanks),
                  "a word is missing");
  for (int from = 0; view.multicast != nullptr && from < kRegionRanks; ++from) {
    complain_unless(own[Place(from)] == Of(from), "a word is missing");
  }
  if (view.multicast != nullptr) {
    kernels_[Place(rank.rank)] =
        OffsetMulticast(view.multicast, (kFromKernels + Place(rank.rank)) * sizeof word);
  }
}

}  // namespace mailbench
