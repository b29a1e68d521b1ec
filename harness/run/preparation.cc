#include "harness/run/preparation.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "harness/build_facts.h"
#include "harness/command_line/config_json.h"
#include "harness/error.h"
#include "harness/ranks/vote_on.h"
#include "harness/report/environment.h"
#include "harness/run/agreement.h"
#include "harness/trace/trace_file.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

// Here a driver and NCCL start.
TransportChoice Choose(const Collective& collective, const RunConfig& config, const Ranks& ranks,
                       const TransportFactory& transports) {
  const Step step("the choice of a transport");
  return ChooseTransport(config, ranks, WantsMulticast(collective, config), transports);
}

RunFacts FactsOf(const Collective& collective, const RunConfig& config, const Ranks& ranks,
                 const TransportChoice& transport, const SweepPlan& plan) {
  RunFacts facts;
  facts.identity = {std::string(collective.name()), ranks.size(), Build(), ReportedJson(config),
                    MeasuredJson(config)};
  facts.start = TimestampUtc();
  facts.environment =
      GatherEnvironment(ranks.hosts(), std::string(transport.transport->name()), transport.refused);
  transport.transport->Describe(facts.environment);
  facts.skipped = plan.skipped;
  return facts;
}

// Rank 0 looks at the paths of report and trace; all hear what it found.
void PrepareOnRankZero(const RunConfig& config, const Ranks& ranks, Prepared& prepared) {
  OnRankZero(ranks, [&] {
    if (!config.trace.empty()) RequireTraceable(config.trace, config.force);
    if (config.json.empty()) return;
    prepared.report = PrepareReport({config.json, config.force, config.resume, HowToResume(config)},
                                    prepared.facts.identity);
  });
  std::string finished;
  for (const std::string& key : prepared.report.finished) finished += key + '\n';
  const std::string keys = ranks.Gather(finished).front();
  for (std::size_t start = 0, end; start < keys.size(); start = end + 1) {
    end = keys.find('\n', start);
    prepared.finished.insert(keys.substr(start, end - start));
  }
  prepared.any_wrong = ranks.Max(prepared.report.any_wrong ? 1 : 0) > 0;
  const std::vector<SweepPoint>& points = prepared.plan.points;
  prepared.complete = ranks.Max(prepared.report.ended ? 1 : 0) > 0 &&
                      std::all_of(points.begin(), points.end(), [&](const SweepPoint& point) {
                        return prepared.finished.contains(ToString(point.key));
                      });
}

}  // namespace

std::string HowToResume(const RunConfig& config) {
  if (config.stress > 0) return "";
  return config.trace.empty() ? "--resume" : "--resume without --trace";
}

Prepared Prepare(const Collective& collective, const RunConfig& config, const Ranks& ranks,
                 const TransportFactory& transports) {
  Prepared prepared;
  prepared.transport = Choose(collective, config, ranks, transports);
  prepared.plan = AgreeOnPlan(collective, config, prepared.transport.transport->site(), ranks);
  prepared.facts = FactsOf(collective, config, ranks, prepared.transport, prepared.plan);
  PrepareOnRankZero(config, ranks, prepared);
  return prepared;
}

}  // namespace mailbench
