#include "harness/run/agreement.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/command_line/config_json.h"
#include "harness/error.h"
#include "harness/measure/benchmark_runner.h"

namespace mailbench {

ParsedArguments ParseArguments(int argc, const char* const* argv, const Collective& collective) {
  ParsedArguments parsed;
  if (const auto variable = InterferingBenchmarkVariable()) {
    parsed.error = "unset " + *variable + ": it changes how points are run";
    return parsed;
  }
  try {
    parsed.command_line =
        ParseCommandLine(std::span(argv, static_cast<std::size_t>(argc)), collective);
  } catch (const UsageError& error) {
    parsed.error = error.what();
  }
  return parsed;
}

void AgreeOnArguments(const ParsedArguments& own, const Ranks& ranks) {
  ranks.Vote(ExitCode::kUsage, own.error);

  const CommandLine& command_line = own.command_line;
  const std::string text = command_line.kind == CommandLine::Kind::kText
                               ? command_line.text
                               : CanonicalJson(command_line.config);
  const std::vector<std::string> hashes = ranks.Gather(std::to_string(HashText(text)));
  for (std::size_t rank = 1; rank < hashes.size(); ++rank) {
    if (hashes[rank] == hashes[0]) continue;
    const std::vector<std::string> texts = ranks.Gather(text);
    std::string difference;
    if (command_line.kind == CommandLine::Kind::kRun) {
      try {
        difference = DescribeDifference(texts[0], texts[rank]);
      } catch (const std::exception&) {  // one of the two is no config but --help or --version
      }
    }
    if (difference.empty()) difference = "one of them asks for --help or --version only";
    // The same text on every rank, whatever this rank itself was given.
    throw UsageError("the ranks were given different settings: rank 0 against rank " +
                     std::to_string(rank) + ": " + ranks.Gather(difference)[0]);
  }
}

SweepPlan AgreeOnPlan(const Collective& collective, const RunConfig& config, const Site& site,
                      const Ranks& ranks) {
  SweepPlan plan;
  ExitCode code = ExitCode::kPassed;
  std::string error;
  try {
    plan = PlanSweep(collective, config, site);
  } catch (const Error& failure) {
    code = failure.code();
    error = failure.what();
  }
  ranks.Vote(code, error);

  std::string own;
  for (const SweepPoint& point : plan.points) own += ToString(point.key) + '\n';
  const std::vector<std::string> plans = ranks.Gather(std::to_string(HashText(own)));
  for (std::size_t rank = 1; rank < plans.size(); ++rank) {
    if (plans[rank] != plans[0]) {
      throw MachineError("rank 0 and rank " + std::to_string(rank) +
                         " can run different algorithms or sizes: their machines are not alike");
    }
  }
  return plan;
}

}  // namespace mailbench
