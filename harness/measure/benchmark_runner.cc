#include "harness/measure/benchmark_runner.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace mailbench {
namespace {

// Prints nothing: rows are printed by the suite's own table, on rank 0 alone.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

}  // namespace

std::optional<std::string> InterferingBenchmarkVariable() {
  constexpr std::string_view kPrefix = "BENCHMARK_";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    if (text.substr(0, kPrefix.size()) == kPrefix) {
      return std::string(text.substr(0, text.find('=')));
    }
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
  if (samples.size() != static_cast<std::size_t>(iterations)) {
    throw std::logic_error("Google Benchmark took " + std::to_string(samples.size()) +
                           " samples of " + name + " instead of " + std::to_string(iterations));
  }
  return samples;
}

}  // namespace mailbench
