#include "harness/measure/benchmark_runner.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>

namespace mailbench {
namespace {

// Prints nothing: rows are printed by the suite's own table, on rank 0 alone.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) iterations_ += run.iterations;
  }
  benchmark::IterationCount iterations() const { return iterations_; }

 private:
  benchmark::IterationCount iterations_ = 0;
};

}  // namespace

std::optional<std::string> InterferingBenchmarkVariable() {
  for (const char* name :
       {"BENCHMARK_OUT", "BENCHMARK_FILTER", "BENCHMARK_REPETITIONS", "BENCHMARK_LIST_TESTS",
        "BENCHMARK_ENABLE_RANDOM_INTERLEAVING", "BENCHMARK_PERF_COUNTERS"}) {
    if (std::getenv(name) != nullptr) return name;
  }
  return std::nullopt;
}

std::vector<double> RunBenchmark(const std::string& name, int iterations,
                                 const std::function<double()>& sample) {
  std::vector<double> samples;
  std::exception_ptr failure;
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 for (auto _ : state) {
                                   try {
                                     samples.push_back(sample());
                                   } catch (...) {
                                     failure = std::current_exception();
                                     state.SkipWithError("the sample threw");
                                     break;
                                   }
                                   state.SetIterationTime(samples.back());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(iterations)
      ->Repetitions(1)
      ->Unit(benchmark::kNanosecond);
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);
  if (reporter.iterations() != iterations) {
    throw std::logic_error("Google Benchmark ran " + std::to_string(reporter.iterations()) +
                           " iterations of " + name + " instead of " + std::to_string(iterations));
  }
  return samples;
}

}  // namespace mailbench
