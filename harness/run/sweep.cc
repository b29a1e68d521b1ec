#include "harness/run/sweep.h"

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>

#include "harness/report/progress.h"
#include "harness/report/table.h"

namespace mailbench {
namespace {

using Instances = std::map<std::string, std::unique_ptr<Instance>>;

Instances SetUp(Collective& collective, const SweepPlan& plan, Transport& transport,
                const MeasureContext& context) {
  Instances instances;
  for (const std::string& algorithm : plan.algorithms) {
    instances[algorithm] = collective.Create(
        algorithm, {context.config, context.ranks, transport, context.executor, context.reference});
  }
  return instances;
}

void PrintRow(const PointRecord& record) {
  std::fputs(FormatTableRow(record).c_str(), stdout);
  if (!record.check.first.empty()) std::printf("#   %s\n", record.check.first.c_str());
  std::fflush(stdout);
}

}  // namespace

SweepResult RunSweep(Collective& collective, const SweepPlan& plan, Transport& transport,
                     const MeasureContext& context, const std::set<std::string>& finished,
                     std::optional<JournalWriter>& journal) {
  const bool prints = context.ranks.rank() == 0;
  context.heartbeat.Enter(Phase::kSetUp, 0);
  Instances instances = SetUp(collective, plan, transport, context);

  SweepResult result;
  CallCounter calls;
  std::optional<Progress> progress;
  if (prints) progress.emplace(STDERR_FILENO, plan.points.size());
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const SweepPoint& point = plan.points[i];
    if (finished.count(ToString(point.key)) > 0) {
      ++result.resumed;
      continue;
    }
    if (progress) progress->Show(i, ToString(point.key));
    Instance& instance = *instances.at(point.key.algorithm);
    const CurrentInstance::Scope shown(&context.current, [&] { return instance.DescribeWait(); });
    const PointRecord record = MeasurePoint(point.key, point.mode, static_cast<std::uint32_t>(i),
                                            instance, calls, context);
    ++result.points;
    result.wrong_words += record.check.mismatches + record.check.leftover;
    if (journal) journal->Append(record);
    if (progress) progress->Erase();
    if (prints) PrintRow(record);
  }
  for (auto& [algorithm, instance] : instances) instance->Free();
  return result;
}

}  // namespace mailbench
