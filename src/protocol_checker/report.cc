#include "src/protocol_checker/report.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "harness/report/json_values.h"
#include "harness/report/report_json.h"
#include "src/protocol_checker/model_json.h"

namespace mailbench {
namespace {

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

Json FabricJson(const WorldRules& rules) {
  Json fabric = Json::array();
  if (rules.links_in_order) fabric.push_back("in-order");
  if (!rules.store_buffers) fabric.push_back("no-store-buffers");
  if (rules.lag > 0) fabric.push_back("lag=" + std::to_string(rules.lag));
  return fabric;
}

void AddOnce(const Json& value, Json& list) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

Json ConfigJson(const CheckerOptions& options) {
  Json strategies = Json::array();
  for (const StrategyKind kind : options.strategies) strategies.push_back(ToString(kind));
  Json protocols = Json::array();
  Json ranks = Json::array();
  for (const CheckerCase& each : options.cases) {
    AddOnce(each.model->name, protocols);
    AddOnce(each.scenario.ranks, ranks);
  }
  const Scenario& scenario = options.cases.front().scenario;
  Json config = {{"protocol", protocols},
                 {"ranks", ranks},
                 {"sizes", scenario.sizes},
                 {"threads", scenario.threads},
                 {"publish", scenario.multicast ? "multicast" : "unicast"},
                 {"streams", scenario.streams},
                 {"producer", scenario.producer},
                 {"replays", scenario.replays},
                 {"fabric", FabricJson(options.rules)},
                 {"pdl", options.rules.programmatic_launch ? "on" : "off"},
                 {"resident-ctas", options.rules.resident_ctas},
                 {"shared-gpu", options.rules.shared_gpu},
                 {"strategy", strategies},
                 {"delay-bound", options.delay_bound},
                 {"seed", options.seed},
                 {"jobs", options.jobs}};
  if (options.schedules > 0) config["schedules"] = options.schedules;
  if (options.seconds > 0) config["seconds"] = options.seconds;
  return config;
}

Json FindingJson(const Finding& finding) {
  return {{"scenario", ScenarioJson(finding.scenario)},
          {"schedule", ScheduleJson(finding.schedule)},
          {"text", finding.violation.text}};
}

Json ViolationJson(const SearchRecord& record) {
  const SearchResult& total = record.result.total;
  if (!total.violation) return nullptr;
  return {{"property", ToString(total.violation->property)},
          {"found", FindingJson({record.searched.scenario, total.schedule, *total.violation})},
          {"minimised", record.minimised ? FindingJson(*record.minimised) : Json(nullptr)}};
}

Json ModelJson(const CheckerOptions& options, const SearchRecord& record) {
  const ParallelResult& result = record.result;
  const bool exhaustive = record.kind == StrategyKind::kExhaustive;
  return {{"kind", "model"},
          {"protocol", record.searched.model->name},
          {"scenario", ScenarioJson(record.searched.scenario)},
          {"rules", RulesJson(options.rules)},
          {"strategy", ToString(record.kind)},
          {"seed", exhaustive ? Json(nullptr) : Json(options.seed)},
          {"delay_bound", exhaustive ? Json(options.delay_bound) : Json(nullptr)},
          {"workers", result.workers},
          {"schedules", result.total.schedules},
          {"steps", result.total.steps},
          {"seconds", result.seconds},
          {"schedules_per_second_per_worker", result.schedules_per_second_per_worker()},
          {"exhausted", exhaustive ? Json(result.total.exhausted) : Json(nullptr)},
          {"violation", ViolationJson(record)}};
}

RunEnding EndingOf(const std::vector<SearchRecord>& records, const std::string& interrupted) {
  RunEnding ending;
  ending.status = RunStatus::kPassed;
  if (!interrupted.empty()) {
    ending.status = RunStatus::kInterrupted;
    ending.reason = interrupted;
    ending.errors = {{{}, interrupted}};
  }
  for (const SearchRecord& record : records) {
    if (!record.result.total.violation) continue;
    ending.status = RunStatus::kWrong;
    ending.reason = record.result.total.violation->text;
    ending.errors.clear();
  }
  return ending;
}

}  // namespace

RunFacts CheckerFacts(const CheckerOptions& options) {
  RunFacts facts;
  facts.identity.collective = "protocol_checker";
  facts.identity.ranks = 1;
  facts.identity.build = Build();
  facts.identity.config = ConfigJson(options).dump();
  facts.start = TimestampUtc();
  facts.environment = GatherEnvironment({HostName()}, "model", {});
  return facts;
}

std::string CheckerReport(const CheckerOptions& options, const RunFacts& facts,
                          const std::vector<SearchRecord>& records,
                          const std::string& interrupted) {
  Json report =
      Json::parse(ReportJson(HeaderJson(facts, 0), {}, {}, EndingOf(records, interrupted)));
  Json& models = report["models"] = Json::array();
  for (const SearchRecord& record : records) models.push_back(ModelJson(options, record));
  return report.dump(2) + '\n';
}

}  // namespace mailbench
