// Summaries of samples. Pure functions.
#pragma once

#include <span>

namespace mailbench {

struct Summary {
  double min = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
  double mean = 0;
};

// The q-th quantile, 0 <= q <= 1, of ascending samples: linear between the two nearest order
// statistics (type 7 of Hyndman and Fan 1996, the default of numpy and R).
// REQUIRES: `ascending` is not empty, holds no NaN and is sorted; otherwise std::invalid_argument.
double Quantile(std::span<const double> ascending, double q);

// REQUIRES: `samples`, in any order, is not empty and holds no NaN; otherwise
// std::invalid_argument.
Summary Summarize(std::span<const double> samples);

}  // namespace mailbench
