// What the user asks the checker for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

// A protocol in a world.
struct CheckerCase {
  const Model* model = nullptr;  // into the models that the options were read with
  Scenario scenario;
};

struct CheckerOptions {
  std::vector<CheckerCase> cases;  // every protocol with every number of ranks
  WorldRules rules;
  std::vector<StrategyKind> strategies;
  int delay_bound = 2;
  std::uint64_t schedules = 0;  // of each case by each strategy; 0: as many as the time allows
  double seconds = 0;           // for each of these; 0: no limit
  std::uint64_t seed = 1;
  int jobs = 1;
  bool force = false;
  std::string json;         // paths; empty: not asked for
  std::string replay;       // a schedule to run again, in place of a search
  std::string save_replay;  // where to save the schedule of a violation
  std::string trace;        // where to write all events of it
  std::string text;         // what to print in place of a run: --help, --version, --list
};

// Throws UsageError, which names the flag and quotes the value.
CheckerOptions ReadCheckerOptions(std::span<const char* const> args,
                                  const std::vector<Model>& models);

}  // namespace mailbench
