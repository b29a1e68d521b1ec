// For tests: a use of a region by three ranks, which tells what it finds wrong.
#pragma once

#include <array>

#include "harness/memory/region_threads.h"

namespace mailbench {

// One life's use. All of a rank's stores are of the first use, right after the set-up, but for the
// last one, of a kernel that still runs when the teardown begins: it comes when the device is
// waited for. Complaints: "a word is not zero at first", "a word is missing".
class RegionUse {
 public:
  // What to ask for, and what the driver then makes: a multiple of its granularity of memory that
  // is none of that of multicast objects, so that there is something to round.
  static constexpr std::size_t kAsked =
      FakeDriver::kMulticastRecommended - FakeDriver::kGranularity;
  static constexpr std::size_t kBytes = FakeDriver::kMulticastRecommended;

  // For RegionLife::prepare, before anything else changes the rank's calls.
  void Prepare(RegionRank& rank);
  // For RegionLife::use.
  void Run(RegionRank& rank, const SymmetricView& view);

 private:
  std::array<MulticastPack*, kRegionRanks>
      kernels_{};  // by rank: where the last store goes, or null
};

}  // namespace mailbench
