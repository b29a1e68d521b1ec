// Warm-up until what is measured is steady.
#pragma once

#include <functional>
#include <optional>

#include "harness/measure/rank_clocks.h"

namespace mailbench {

// How a point was warmed up.
struct WarmUp {
  int samples = 0;             // thrown away
  std::optional<bool> steady;  // at the end; nothing where no warm-up was asked for
  RankClocks clocks_mhz;       // at the end
};

inline constexpr int kMostWarmUpBatches = 10;
inline constexpr double kMostWarmUpSeconds = 2;

// What a warm-up looks at. Every value is the same on every rank, which then all decide alike.
struct WarmUpSource {
  std::function<double()> sample;   // takes one, seconds
  std::function<double()> elapsed;  // seconds since the warm-up began
  std::function<RankClocks()> clocks_mhz;
  double most_seconds = kMostWarmUpSeconds;
};

inline constexpr double kSteadyWithin = 0.02;

// Takes a batch of `least` samples, and then more batches of as many until one is steady: its
// median is within kSteadyWithin of that of the batch before, and each rank's clock is the same as
// then: the highest alone would hide one GPU that is throttled while the others are not.
// Ends, not steady, after kMostWarmUpBatches more, or before one that, as long as the last, would
// end after most_seconds. `least` 0: takes none. REQUIRES: least >= 0.
WarmUp WarmUpUntilSteady(int least, const WarmUpSource& source);

}  // namespace mailbench
