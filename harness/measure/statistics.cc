#include "harness/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mailbench {

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
  if (samples.empty()) throw std::invalid_argument("a summary of no samples");
  std::vector<double> ascending(samples.begin(), samples.end());
  if (std::any_of(ascending.begin(), ascending.end(), [](double x) { return std::isnan(x); })) {
    throw std::invalid_argument("a summary of samples that hold a NaN");
  }
  std::sort(ascending.begin(), ascending.end());
  Summary summary;
  summary.min = ascending.front();
  summary.p50 = Quantile(ascending, 0.50);
  summary.p90 = Quantile(ascending, 0.90);
  summary.p99 = Quantile(ascending, 0.99);
  summary.p999 = Quantile(ascending, 0.999);
  summary.max = ascending.back();
  summary.mean = std::accumulate(ascending.begin(), ascending.end(), 0.0) /
                 static_cast<double>(ascending.size());
  return summary;
}

}  // namespace mailbench
