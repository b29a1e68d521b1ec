#include "harness/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace mailbench {
namespace {

// Known answers: numpy.quantile(range(1, 11), q), method "linear".
TEST(Quantile, AgreesWithNumpy) {
  const std::vector<double> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_DOUBLE_EQ(Quantile(ten, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile(ten, 0.25), 3.25);
  EXPECT_DOUBLE_EQ(Quantile(ten, 0.5), 5.5);
  EXPECT_DOUBLE_EQ(Quantile(ten, 0.9), 9.1);
  EXPECT_DOUBLE_EQ(Quantile(ten, 0.99), 9.91);
  EXPECT_DOUBLE_EQ(Quantile(ten, 1), 10);
}

TEST(Quantile, OfTiesIsTheTie) {
  const std::vector<double> ties = {0.1, 0.3, 0.3, 0.3, 0.9};
  EXPECT_EQ(Quantile(ties, 0.5), 0.3);
  EXPECT_EQ(Quantile(ties, 0.4), 0.3);
}

TEST(Quantile, RefusesNothingAndNonsense) {
  EXPECT_THROW(Quantile({}, 0.5), std::invalid_argument);
  const std::vector<double> one = {1};
  EXPECT_THROW(Quantile(one, -0.1), std::invalid_argument);
  EXPECT_THROW(Quantile(one, 1.1), std::invalid_argument);
  EXPECT_THROW(Quantile(one, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
}

TEST(Summarize, OrderDoesNotMatter) {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  const Summary summary = Summarize(samples);
  EXPECT_DOUBLE_EQ(summary.min, 1);
  EXPECT_DOUBLE_EQ(summary.p50, 3);
  EXPECT_DOUBLE_EQ(summary.max, 5);
  EXPECT_DOUBLE_EQ(summary.mean, 3);
}

TEST(Summarize, OneSampleIsEveryStatisticThatItHas) {
  const std::vector<double> one = {7.5};
  const Summary summary = Summarize(one);
  for (const double value : {summary.min, summary.p50, summary.max, summary.mean}) {
    EXPECT_EQ(value, 7.5);
  }
  EXPECT_EQ(summary.p90, std::nullopt);
}

TEST(Summarize, RefusesNothingAndNaN) {
  EXPECT_THROW(Summarize({}), std::invalid_argument);
  const std::vector<double> samples = {1, std::numeric_limits<double>::quiet_NaN(), 2};
  EXPECT_THROW(Summarize(samples), std::invalid_argument);
}

std::vector<double> OneTo(int n) {
  std::vector<double> samples(static_cast<std::size_t>(n));
  std::iota(samples.begin(), samples.end(), 1.0);
  return samples;
}

TEST(Summarize, ATailIsToldByEnoughSamplesAlone) {
  const Summary nine = Summarize(OneTo(9));
  EXPECT_EQ(nine.p90, std::nullopt);
  const Summary ten = Summarize(OneTo(10));
  EXPECT_DOUBLE_EQ(ten.p90.value(), 9.1);
  EXPECT_EQ(Summarize(OneTo(99)).p99, std::nullopt);
  const Summary hundred = Summarize(OneTo(100));
  EXPECT_DOUBLE_EQ(hundred.p99.value(), 99.01);
  EXPECT_EQ(Summarize(OneTo(999)).p999, std::nullopt);
  const Summary thousand = Summarize(OneTo(1000));
  EXPECT_DOUBLE_EQ(thousand.p999.value(), 999.001);
}

// Known answers: sums of binomial coefficients in exact integers (Python). The published tables of
// intervals for the median have the same ranks.
struct KnownInterval {
  int n, low_rank, high_rank;
  double confidence;
};
constexpr KnownInterval kKnownIntervals[] = {
    {1, 1, 1, 0},
    {2, 1, 2, 0.5},
    {3, 1, 3, 0.75},
    {5, 1, 5, 0.9375},
    {6, 1, 6, 0.96875},
    {8, 1, 8, 0.9921875},
    {9, 2, 8, 0.9609375},
    {10, 2, 9, 0.978515625},
    {17, 5, 13, 0.950958251953125},
    {20, 6, 15, 0.9586105346679688},
    {25, 8, 18, 0.9567147493362427},
    {50, 18, 33, 0.9671608624357315},
    {100, 40, 61, 0.9647997997822951},
    {1000, 469, 532, 0.9537088026395019},
    {1001, 470, 532, 0.9500154764972458},
    {100001, 49691, 50311, 0.9500751139879057},
};

TEST(IntervalOfMedian, HasTheRanksAndTheConfidenceOfTheBinomial) {
  for (const KnownInterval& known : kKnownIntervals) {
    const MedianInterval interval = IntervalOfMedian(OneTo(known.n));
    EXPECT_EQ(interval.low, known.low_rank) << known.n;
    EXPECT_EQ(interval.high, known.high_rank) << known.n;
    EXPECT_NEAR(interval.confidence, known.confidence, 1e-11) << known.n;
  }
}

TEST(IntervalOfMedian, OrderDoesNotMatter) {
  std::vector<double> samples = OneTo(20);
  std::shuffle(samples.begin(), samples.end(), std::mt19937_64(1));
  EXPECT_EQ(IntervalOfMedian(samples).low, 6);
  EXPECT_EQ(IntervalOfMedian(samples).high, 15);
}

TEST(IntervalOfMedian, HoldsTheMedianOfTheSamplesAlways) {
  for (int n = 1; n <= 300; ++n) {
    const MedianInterval interval = IntervalOfMedian(OneTo(n));
    const double median = (n + 1) / 2.0;
    EXPECT_LE(interval.low, median) << n;
    EXPECT_GE(interval.high, median) << n;
    EXPECT_EQ(interval.low + interval.high, n + 1) << n;
    if (n >= 6) {
      EXPECT_GE(interval.confidence, kMedianConfidence) << n;
    } else {
      EXPECT_DOUBLE_EQ(interval.confidence, 1 - std::ldexp(1.0, 1 - n)) << n;
    }
  }
}

TEST(IntervalOfMedian, OfTiesIsTheTie) {
  std::vector<double> samples(20, 0.3);
  samples[3] = 0.1;
  samples[4] = 9;
  const MedianInterval interval = IntervalOfMedian(samples);
  EXPECT_EQ(interval.low, 0.3);
  EXPECT_EQ(interval.high, 0.3);
  EXPECT_NEAR(interval.confidence, 0.9586105346679688, 1e-11);
}

TEST(IntervalOfMedian, OfOneSampleIsTheSampleWithoutConfidence) {
  const std::vector<double> one = {7.5};
  const MedianInterval interval = IntervalOfMedian(one);
  EXPECT_EQ(interval.low, 7.5);
  EXPECT_EQ(interval.high, 7.5);
  EXPECT_EQ(interval.confidence, 0);
}

TEST(IntervalOfMedian, RefusesNothingAndNaN) {
  EXPECT_THROW(IntervalOfMedian({}), std::invalid_argument);
  const std::vector<double> samples = {1, 2, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(IntervalOfMedian(samples), std::invalid_argument);
}

using Random = std::mt19937_64;

// In how many of 10^4 sets of n samples the interval holds the true median.
double Coverage(std::size_t n, double median, Random& random,
                const std::function<double(Random&)>& draw) {
  constexpr int kSets = 10'000;
  int held = 0;
  std::vector<double> samples(n);
  for (int set = 0; set < kSets; ++set) {
    std::generate(samples.begin(), samples.end(), [&] { return draw(random); });
    const MedianInterval interval = IntervalOfMedian(samples);
    if (interval.low <= median && median <= interval.high) ++held;
  }
  return static_cast<double>(held) / kSets;
}

struct Distribution {
  std::string name;
  double median;
  std::function<double(Random&)> draw;
};

double Lognormal(Random& random) {
  return 2 * std::exp(0.3 * std::normal_distribution<double>()(random));
}

// 1 of 4 samples is from a second mode far above, as when a GPU shares its time.
double Bimodal(Random& random) {
  const double uniform = std::uniform_real_distribution<double>()(random);
  return uniform < 0.75 ? 2 + uniform : 30 + uniform;
}

// As a timer's ticks make it: samples tie, 1 of 400 at the median.
double Ticks(Random& random) { return std::round(256 * Lognormal(random)) / 256; }

TEST(IntervalOfMedian, CoversTheMedianAsOftenAsItSays) {
  const Distribution distributions[] = {
      {"lognormal", 2, Lognormal}, {"bimodal", 2.5, Bimodal}, {"ticks", 2, Ticks}};
  Random random(20250131);
  for (const Distribution& distribution : distributions) {
    for (const int n : {2, 5, 6, 9, 20, 50, 101}) {
      const double claimed = IntervalOfMedian(OneTo(n)).confidence;
      EXPECT_NEAR(
          Coverage(static_cast<std::size_t>(n), distribution.median, random, distribution.draw),
          claimed, 0.01)
          << n << " samples, " << distribution.name;
    }
  }
}

// The probability of fewer than `limit` successes in n.
double FewerThan(int limit, int n, double success) {
  double sum = 0;
  for (int k = 0; k < limit; ++k) {
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(success) + (n - k) * std::log1p(-success));
  }
  return sum;
}

// Few values, so that the median's own has a probability: the interval, which holds its ends, may
// then only cover more than it says, and how much more is known.
TEST(IntervalOfMedian, CoversMoreThanItSaysWhereManySamplesTie) {
  std::discrete_distribution<int> values({0.10, 0.35, 0.10, 0.35, 0.10});  // 2 is the median
  Random random(7);
  for (const KnownInterval& known : kKnownIntervals) {
    if (known.n > 100) continue;
    const double missed = 2 * FewerThan(known.low_rank, known.n, 0.55);
    const double covered = Coverage(static_cast<std::size_t>(known.n), 2, random,
                                    [&](Random& source) { return values(source); });
    EXPECT_NEAR(covered, 1 - missed, 0.01) << known.n;
    EXPECT_GE(covered, known.confidence - 0.01) << known.n;
  }
}

}  // namespace
}  // namespace mailbench
