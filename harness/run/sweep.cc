#include "harness/run/sweep.h"

#include <cstdint>
#include <cstdio>

#include "harness/report/progress.h"
#include "harness/report/table.h"
#include "harness/run/estimate.h"
#include "harness/run/instances.h"
#include "harness/run/progress_of.h"
#include "harness/trace/tracing.h"

namespace mailbench {
namespace {

// `untraced`: why the points before had no trace; each reason is given once. Null: nobody asked.
void PrintRow(const PointRecord& record, std::set<std::string>* untraced) {
  std::fputs(FormatTableRow(record).c_str(), stdout);
  if (record.trace) {
    std::printf("#   %s\n", ToString(*record.trace).c_str());
  } else if (untraced != nullptr && untraced->insert(record.untraced).second) {
    std::printf("#   not traced: %s\n", record.untraced.c_str());
  }
  if (!record.check.first.empty()) std::printf("#   %s\n", record.check.first.c_str());
  std::fflush(stdout);
}

}  // namespace

SweepResult RunSweep(Collective& collective, const SweepPlan& plan, Transport& transport,
                     const MeasureContext& context, const std::set<std::string>& finished,
                     std::optional<JournalWriter>& journal) {
  const bool prints = context.ranks.rank() == 0;
  Instances instances(collective, plan, transport, context);
  const std::optional<Floor>& floor = instances.floor();
  if (prints) {
    std::fputs(FormatColumns(floor).c_str(), stdout);
    std::fflush(stdout);
  }
  MeasureContext measuring = context;
  measuring.gate = instances.gate();

  SweepResult result;
  CallCounter calls;
  Tracing tracing(context, collective.name());
  std::set<std::string> untraced;
  std::optional<Progress> progress;
  const PlanEstimate estimate = EstimatePoints(collective, plan, context.config, transport.site());
  if (prints) progress.emplace(FindScreen(), ExpectedSeconds(estimate));
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    const SweepPoint& point = plan.points[i];
    if (finished.count(ToString(point.key)) > 0) {
      ++result.resumed;
      if (progress) progress->Skip();
      continue;
    }
    if (progress) progress->Begin(ProgressOfPoint(point.key, estimate.parts[i], context.heartbeat));
    Instance& instance = instances.at(point.key.algorithm);
    const CurrentInstance::Scope shown(&context.current, [&] { return instance.DescribeWait(); });
    PointRecord record =
        MeasurePoint(point, static_cast<std::uint32_t>(i), instance, calls, measuring);
    record.floor = floor;
    if (floor && instance.repeats() == 1) record.floor_call_us = floor->call_us(point.mode);
    tracing.Trace(point.mode, instance, calls, record);
    ++result.points;
    result.wrong_words += record.check.mismatches + record.check.leftover;
    if (journal) journal->Append(record);
    if (progress) progress->End();
    if (prints) PrintRow(record, context.config.trace.empty() ? nullptr : &untraced);
  }
  context.heartbeat.Enter(Phase::kTearDown, static_cast<std::uint32_t>(plan.points.size()));
  instances.Free();
  tracing.Write();
  return result;
}

}  // namespace mailbench
