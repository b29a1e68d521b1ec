// Warm-up until what is measured is steady.
#pragma once

#include <functional>
#include <optional>

namespace mailbench {

// How a point was warmed up.
struct WarmUp {
  int samples = 0;               // thrown away
  std::optional<bool> steady;    // at the end; nothing where no warm-up was asked for
  std::optional<int> clock_mhz;  // of the multiprocessors at the end, the highest of all ranks
};

// What a warm-up looks at. Every value is the same on every rank, which then all decide alike.
struct WarmUpSource {
  std::function<double()> sample;                 // takes one, seconds
  std::function<double()> elapsed;                // seconds since the warm-up began
  std::function<std::optional<int>()> clock_mhz;  // nothing where it cannot be told
};

inline constexpr int kMostWarmUpBatches = 10;
inline constexpr double kMostWarmUpSeconds = 2;
inline constexpr double kSteadyWithin = 0.02;

// Takes a batch of `least` samples, and then more batches of as many until one is steady: its
// median is within kSteadyWithin of that of the batch before, and the clock is the same as then.
// Ends, not steady, after kMostWarmUpBatches more, or before one that, as long as the last, would
// end after kMostWarmUpSeconds. `least` 0: takes none. REQUIRES: least >= 0.
WarmUp WarmUpUntilSteady(int least, const WarmUpSource& source);

}  // namespace mailbench
