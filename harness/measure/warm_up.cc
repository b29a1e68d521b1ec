#include "harness/measure/warm_up.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "harness/measure/statistics.h"

namespace mailbench {
namespace {

double MedianOfBatch(int samples, const WarmUpSource& source) {
  std::vector<double> batch(static_cast<std::size_t>(samples));
  for (double& seconds : batch) seconds = source.sample();
  return Summarize(batch).p50;
}

}  // namespace

WarmUp WarmUpUntilSteady(int least, const WarmUpSource& source) {
  WarmUp result;
  if (least > 0) {
    double median = MedianOfBatch(least, source);
    result = {least, false, source.clocks_mhz()};
    double began = 0;
    for (int batch = 0; batch < kMostWarmUpBatches && !*result.steady; ++batch) {
      const double now = source.elapsed();
      if (now + (now - began) > source.most_seconds) break;
      began = now;
      const double median_before = median;
      const RankClocks clocks_before = result.clocks_mhz;
      median = MedianOfBatch(least, source);
      result.samples += least;
      result.clocks_mhz = source.clocks_mhz();
      result.steady = std::abs(median - median_before) <= kSteadyWithin * median_before &&
                      result.clocks_mhz == clocks_before;
    }
  } else {
    result.clocks_mhz = source.clocks_mhz();
  }
  return result;
}

}  // namespace mailbench
