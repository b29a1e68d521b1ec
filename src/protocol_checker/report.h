// The report of a search: that of any binary of the suite, with what was searched in `models`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/report/run_facts.h"
#include "kernels/machine/adversary/minimise.h"
#include "src/protocol_checker/options.h"
#include "src/protocol_checker/parallel_search.h"

namespace mailbench {

// What one strategy has searched.
struct SearchRecord {
  CheckerCase searched;
  StrategyKind kind = StrategyKind::kBiased;
  ParallelResult result;
  std::optional<Finding> minimised;  // of its violation
};

RunFacts CheckerFacts(const CheckerOptions& options);
// `interrupted`: by what the search ended before its time; empty: it did not.
std::string CheckerReport(const CheckerOptions& options, const RunFacts& facts,
                          const std::vector<SearchRecord>& records, const std::string& interrupted);

}  // namespace mailbench
