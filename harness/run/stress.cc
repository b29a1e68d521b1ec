#include "harness/run/stress.h"

#include <unistd.h>

#include <cstdio>
#include <vector>

#include "harness/report/progress.h"
#include "harness/report/table.h"
#include "harness/run/instances.h"
#include "harness/stress/stress_run.h"

namespace mailbench {
namespace {

// Each of the algorithm's once, ascending as in the plan.
std::vector<Shape> ShapesOf(const std::string& algorithm, const SweepPlan& plan) {
  std::vector<Shape> shapes;
  for (const SweepPoint& point : plan.points) {
    if (point.key.algorithm != algorithm) continue;
    const Shape& shape = point.key.shape;
    if (shapes.empty() || shapes.back().bytes_per_rank != shape.bytes_per_rank) {
      shapes.push_back(shape);
    }
  }
  return shapes;
}

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
                          const MeasureContext& context, std::optional<JournalWriter>& journal) {
  const bool prints = context.ranks.rank() == 0;
  Instances instances(collective, plan, transport, context);
  std::optional<Progress> progress;
  if (prints) progress.emplace(STDERR_FILENO, plan.algorithms.size());
  std::uint64_t wrong_words = 0;
  CallCounter calls;
  for (std::size_t i = 0; i < plan.algorithms.size(); ++i) {
    const std::string& algorithm = plan.algorithms[i];
    Instance& instance = instances.at(algorithm);
    const CurrentInstance::Scope shown(&context.current, [&] { return instance.DescribeWait(); });
    const auto observe = [&](const StressRecord& record) {
      if (journal) journal->Append(record);
      if (progress) {
        progress->Show(i, algorithm + ": " + std::to_string(record.calls) + " calls, " +
                              std::to_string(record.wrong_calls) + " wrong");
      }
    };
    const StressRecord record =
        RunStress(RecordFor(algorithm, plan, context.config), static_cast<std::uint32_t>(i),
                  instance, calls, context, observe);
    wrong_words += record.check.mismatches + record.check.leftover;
    if (progress) progress->Erase();
    if (prints) PrintRow(record);
  }
  context.heartbeat.Enter(Phase::kTearDown, static_cast<std::uint32_t>(plan.algorithms.size()));
  instances.Free();
  return wrong_words;
}

std::string ListStresses(const SweepPlan& plan, const RunConfig& config) {
  std::string text;
  for (const std::string& algorithm : plan.algorithms) {
    const std::vector<Shape> shapes = ShapesOf(algorithm, plan);
    text += "stress of " + algorithm + ": at least " + std::to_string(config.stress) +
            " calls, of " + std::to_string(shapes.size()) + " sizes from " +
            ToString(shapes.front()) + " to " + ToString(shapes.back()) + ", up to " +
            std::to_string(config.calls_per_graph) + " in a graph\n";
  }
  return text;
}

}  // namespace mailbench
