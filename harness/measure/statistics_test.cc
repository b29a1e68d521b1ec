#include "harness/measure/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
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
  EXPECT_DOUBLE_EQ(summary.p90, 4.6);
  EXPECT_DOUBLE_EQ(summary.p99, 4.96);
  EXPECT_DOUBLE_EQ(summary.p999, 4.996);
  EXPECT_DOUBLE_EQ(summary.max, 5);
  EXPECT_DOUBLE_EQ(summary.mean, 3);
}

TEST(Summarize, OneSampleIsEveryStatistic) {
  const std::vector<double> one = {7.5};
  const Summary summary = Summarize(one);
  for (const double value : {summary.min, summary.p50, summary.p90, summary.p99, summary.p999,
                             summary.max, summary.mean}) {
    EXPECT_EQ(value, 7.5);
  }
}

TEST(Summarize, RefusesNothingAndNaN) {
  EXPECT_THROW(Summarize({}), std::invalid_argument);
  const std::vector<double> samples = {1, std::numeric_limits<double>::quiet_NaN(), 2};
  EXPECT_THROW(Summarize(samples), std::invalid_argument);
}

}  // namespace
}  // namespace mailbench
