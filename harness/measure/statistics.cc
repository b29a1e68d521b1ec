#include "harness/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mailbench {
namespace {

std::vector<double> Ascending(std::span<const double> samples) {
  if (samples.empty()) throw std::invalid_argument("a summary of no samples");
  std::vector<double> ascending(samples.begin(), samples.end());
  if (std::any_of(ascending.begin(), ascending.end(), [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("a summary of samples that hold a NaN");
  }
  std::sort(ascending.begin(), ascending.end());
  return ascending;
}

// Of n throws of a coin, the probability of floor(n / 2) heads.
double MiddleOfBinomial(std::size_t n) {
  const std::size_t half = n / 2;
  double probability = 1;
  // Of 2i throws, i heads: the last two throws change what 2i - 2 have by this factor.
  for (std::size_t i = 1; i <= half; ++i) {
    probability *= static_cast<double>(2 * i - 1) / static_cast<double>(2 * i);
  }
  if (n % 2 == 1) probability *= static_cast<double>(n) / static_cast<double>(n + 1);
  return probability;
}

}  // namespace

double Quantile(std::span<const double> ascending, double q) {
  if (ascending.empty()) throw std::invalid_argument("a quantile of no samples");
  if (!(q >= 0 && q <= 1)) throw std::invalid_argument("a quantile outside 0 to 1");
  const double position = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double fraction = position - static_cast<double>(below);
  // No interpolation between equal neighbours: it would not return their value exactly.
  if (fraction == 0 || ascending[below] == ascending[above]) return ascending[below];
  return ascending[below] + fraction * (ascending[above] - ascending[below]);
}

Summary Summarize(std::span<const double> samples) {
  const std::vector<double> ascending = Ascending(samples);
  Summary summary;
  summary.min = ascending.front();
  summary.p50 = Quantile(ascending, 0.50);
  if (ascending.size() >= kLeastForP90) summary.p90 = Quantile(ascending, 0.90);
  if (ascending.size() >= kLeastForP99) summary.p99 = Quantile(ascending, 0.99);
  if (ascending.size() >= kLeastForP999) summary.p999 = Quantile(ascending, 0.999);
  summary.max = ascending.back();
  summary.mean = std::accumulate(ascending.begin(), ascending.end(), 0.0) /
                 static_cast<double>(ascending.size());
  return summary;
}

MedianInterval IntervalOfMedian(std::span<const double> samples) {
  const std::vector<double> ascending = Ascending(samples);
  const std::size_t n = ascending.size();
  // Samples left out on either side. The interval fails when at most so many are below the
  // median, or at most so many above it.
  std::size_t outside = (n - 1) / 2;
  double probability = MiddleOfBinomial(n);  // that exactly `outside` samples are below the median
  double confidence = 0;                     // a single sample is no interval
  if (n % 2 == 0) {
    confidence = probability;
    probability *= static_cast<double>(n) / static_cast<double>(n + 2);
  }
  while (confidence < kMedianConfidence && outside > 0) {
    confidence += 2 * probability;
    probability *= static_cast<double>(outside) / static_cast<double>(n - outside + 1);
    --outside;
  }
  return {ascending[outside], ascending[n - 1 - outside], confidence};
}

}  // namespace mailbench
