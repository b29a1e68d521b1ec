// Summaries of samples. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace mailbench {

// Of fewer than 1 / (1 - q) samples not one is to be expected above the quantile q. Interpolation
// would put it between the two largest, however long the tail is, so a summary leaves it out.
inline constexpr std::size_t kLeastForP90 = 10;
inline constexpr std::size_t kLeastForP99 = 100;
inline constexpr std::size_t kLeastForP999 = 1000;

struct Summary {
  double min = 0;
  double p50 = 0;
  std::optional<double> p90 = {};  // of kLeastForP90 samples or more, and so on
  std::optional<double> p99 = {};
  std::optional<double> p999 = {};
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

// low <= m <= high, where m is the median of what the samples were drawn from.
struct MedianInterval {
  double low = 0;
  double high = 0;
  double confidence = 0;  // the probability that an interval made this way holds m
};

inline constexpr double kMedianConfidence = 0.95;

// The narrowest interval from the r-th smallest to the r-th largest sample whose confidence is at
// least kMedianConfidence. Fewer than six samples have none: theirs is from min to max, with the
// confidence that this has, 1 - 2^(1-n).
// Nothing is assumed of the distribution, only that samples are independent: how many of n lie
// below m is then binomial with probability 1/2, and the confidence is exact, or, where samples
// can tie, a lower bound (Conover, Practical Nonparametric Statistics, 3rd ed., 1999,
// section 3.2).
// REQUIRES: as Summarize.
MedianInterval IntervalOfMedian(std::span<const double> samples);

}  // namespace mailbench
