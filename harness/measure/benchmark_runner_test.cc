#include "harness/measure/benchmark_runner.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace mailbench {
namespace {

TEST(RunBenchmark, RunsExactlyTheIterationsAskedForWhateverTheyTake) {
  for (const int iterations : {1, 2, 7, 1000}) {
    int calls = 0;
    const auto samples = RunBenchmark("point", iterations, [&] { return 1e-9 * ++calls; });
    ASSERT_EQ(samples.size(), static_cast<std::size_t>(iterations));
    EXPECT_EQ(calls, iterations);
    for (int i = 0; i < iterations; ++i) {
      EXPECT_DOUBLE_EQ(samples[static_cast<std::size_t>(i)], 1e-9 * (i + 1));
    }
  }
}

TEST(RunBenchmark, ForgetsThePointBefore) {
  int first = 0;
  RunBenchmark("first", 3, [&] { return ++first * 1e-6; });
  int second = 0;
  RunBenchmark("second", 5, [&] { return ++second * 1e-6; });
  EXPECT_EQ(first, 3);
  EXPECT_EQ(second, 5);
}

TEST(RunBenchmark, ThrowsOnWhatASampleThrew) {
  int calls = 0;
  const auto failing = [&]() -> double {
    if (++calls == 3) throw std::out_of_range("planted");
    return 1e-6;
  };
  EXPECT_THROW(RunBenchmark("point", 10, failing), std::out_of_range);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(RunBenchmark("point", 2, [] { return 1e-6; }).size(), 2u);
}

TEST(InterferingBenchmarkVariable, NamesWhatIsSet) {
  EXPECT_FALSE(InterferingBenchmarkVariable().has_value());
  for (const char* name : {"BENCHMARK_OUT", "BENCHMARK_MIN_WARMUP_TIME"}) {
    setenv(name, "x", 1);
    EXPECT_EQ(InterferingBenchmarkVariable(), name);
    unsetenv(name);
  }
  setenv("NOT_A_BENCHMARK_VARIABLE", "x", 1);
  EXPECT_FALSE(InterferingBenchmarkVariable().has_value());
}

}  // namespace
}  // namespace mailbench
