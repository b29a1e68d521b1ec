// Google Benchmark as the runner of one point, under mpirun: each point is registered, run and
// cleared, with a fixed number of iterations and the cross-rank maximum as its time.
//
// Every rank runs the same iterations, since none is decided by a clock. Percentiles and raw
// samples are kept by the caller: the library's reporters know neither.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mailbench {

// The name of an environment variable of Google Benchmark, when one is set. They change what it
// runs or writes, and it reads them before main starts, so they can only be refused.
std::optional<std::string> InterferingBenchmarkVariable();

// Runs `sample` `iterations` times; it returns seconds. Returns them in order. Throws what `sample`
// throws. REQUIRES: iterations >= 1.
std::vector<double> RunBenchmark(const std::string& name, int iterations,
                                 const std::function<double()>& sample);

}  // namespace mailbench
