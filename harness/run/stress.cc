#include "harness/run/stress.h"

#include <cstdio>
#include <string>

#include "harness/report/progress.h"
#include "harness/report/table.h"
#include "harness/run/estimate.h"
#include "harness/run/instances.h"
#include "harness/run/progress_of.h"
#include "harness/stress/pattern.h"
#include "harness/stress/stress_run.h"

namespace mailbench {
namespace {

StressRecord RecordFor(const std::string& algorithm, const SweepPlan& plan,
                       const RunConfig& config) {
  const PointKey& any = plan.points.front().key;
  StressRecord record;
  record.collective = any.collective;
  record.algorithm = algorithm;
  record.transport = any.transport;
  record.ranks = any.ranks;
  record.seed = config.seed;
  record.shapes = ShapesOf(algorithm, plan);
  for (const StressPattern pattern : kStressPatterns) record.patterns.push_back(ToString(pattern));
  record.calls_per_graph = config.calls_per_graph;
  record.calls_wanted = static_cast<std::uint64_t>(config.stress);
  return record;
}

void PrintRow(const StressRecord& record) {
  std::fputs(FormatStressRow(record).c_str(), stdout);
  if (!record.check.first.empty()) std::printf("#   %s\n", record.check.first.c_str());
  std::fflush(stdout);
}

}  // namespace

std::uint64_t RunStresses(Collective& collective, const SweepPlan& plan, Transport& transport,
                          const MeasureContext& context, std::optional<JournalWriter>& journal,
                          StressFindings& findings) {
  const bool prints = context.ranks.rank() == 0;
  Instances instances(collective, plan, transport, context);
  std::optional<Progress> progress;
  const PlanEstimate estimate =
      EstimateStresses(collective, plan, context.config, transport.site());
  if (prints) progress.emplace(FindScreen(), ExpectedSeconds(estimate));
  const auto note = [&](const StressRecord& record) {
    findings.Note(record);
    context.ranks.Barrier();  // what is on disk is told by whichever rank ends the run
    if (journal) journal->Append(record);
  };
  for (const std::string& algorithm : plan.algorithms) {
    note(RecordFor(algorithm, plan, context.config));
  }
  std::uint64_t wrong_words = 0;
  CallCounter calls;
  for (std::size_t i = 0; i < plan.algorithms.size(); ++i) {
    const std::string& algorithm = plan.algorithms[i];
    Instance& instance = instances.at(algorithm);
    const CurrentInstance::Scope shown(&context.current, [&] { return instance.DescribeWait(); });
    const auto observe = [&](const StressRecord& record) {
      note(record);
      if (progress) progress->Note(std::to_string(record.wrong_calls) + " wrong");
    };
    if (progress) {
      progress->Begin(ProgressOfStress(algorithm, estimate.parts[i], context.heartbeat));
    }
    const StressRecord record =
        RunStress(RecordFor(algorithm, plan, context.config), static_cast<std::uint32_t>(i),
                  instance, calls, context, observe);
    wrong_words += record.check.mismatches + record.check.leftover;
    if (progress) progress->End();
    if (prints) PrintRow(record);
  }
  context.heartbeat.Enter(Phase::kTearDown, static_cast<std::uint32_t>(plan.algorithms.size()));
  instances.Free();
  return wrong_words;
}

}  // namespace mailbench
