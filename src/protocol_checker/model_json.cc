#include "src/protocol_checker/model_json.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "harness/build_facts.h"
#include "harness/command_line/quote.h"
#include "harness/error.h"
#include "src/protocol_checker/limits.h"

namespace mailbench {
namespace {

int Within(const Json& json, const char* key, int least, int most) {
  const auto value = json.at(key).get<std::int64_t>();
  if (value < least || value > most) {
    throw UsageError(std::string(key) + " is not between " + std::to_string(least) + " and " +
                     std::to_string(most));
  }
  return static_cast<int>(value);
}

bool IsMulticast(const std::string& publish) {
  if (publish != "multicast" && publish != "unicast") {
    throw UsageError(Quote(publish) + " is no way to publish");
  }
  return publish == "multicast";
}

Scenario ScenarioOf(const Json& json) {
  Scenario scenario;
  scenario.ranks = Within(json, "ranks", 1, kMostRanks);
  scenario.sizes = json.at("sizes").get<std::vector<std::int64_t>>();
  const bool fits = std::all_of(scenario.sizes.begin(), scenario.sizes.end(),
                                [](std::int64_t size) { return 1 <= size && size <= kMostPacks; });
  if (scenario.sizes.empty() || scenario.sizes.size() > kMostCalls || !fits) {
    throw UsageError("sizes are not those of calls");
  }
  scenario.threads = Within(json, "threads", 1, kMostThreads);
  scenario.multicast = IsMulticast(json.at("publish").get<std::string>());
  scenario.streams = Within(json, "streams", 1, kMostStreams);
  scenario.producer = json.at("producer").get<bool>();
  scenario.replays = Within(json, "replays", 1, kMostReplays);
  return scenario;
}

WorldRules RulesOf(const Json& json) {
  WorldRules rules;
  rules.links_in_order = json.at("links_in_order").get<bool>();
  rules.store_buffers = json.at("store_buffers").get<bool>();
  rules.lag = Within(json, "lag", 0, kMostLag);
  rules.programmatic_launch = json.at("programmatic_launch").get<bool>();
  rules.resident_ctas = Within(json, "resident_ctas", 0, kMostResidentCtas);
  rules.shared_gpu = json.at("shared_gpu").get<bool>();
  return rules;
}

template <typename Kind>
Kind KindOf(const std::string& name, std::initializer_list<Kind> kinds) {
  for (const Kind kind : kinds) {
    if (name == ToString(kind)) return kind;
  }
  throw UsageError(Quote(name) + " is not known");
}

StrategyKind StrategyOf(const Json& json) {
  using enum StrategyKind;
  return KindOf(json.get<std::string>(), {kUniform, kBiased, kPct, kExhaustive});
}

Property PropertyOf(const Json& json) {
  using enum Property;
  return KindOf(json.get<std::string>(),
                {kOutput, kLeftover, kRace, kOverrun, kSlack, kStray, kDeadlock, kEndless});
}

ScheduleId ScheduleOf(const Json& json) {
  ScheduleId schedule;
  schedule.kind = StrategyOf(json.at("strategy"));
  schedule.seed = json.at("seed").get<std::uint64_t>();
  schedule.number = json.at("number").get<std::uint64_t>();
  schedule.pct_steps = json.at("pct_steps").get<std::uint64_t>();
  schedule.delays = json.at("delays").get<std::vector<std::uint64_t>>();
  return schedule;
}

SavedSchedule SavedScheduleOf(const Json& json) {
  SavedSchedule saved;
  saved.protocol = json.at("protocol").get<std::string>();
  saved.rules = RulesOf(json.at("rules"));
  saved.finding.scenario = ScenarioOf(json.at("scenario"));
  saved.finding.schedule = ScheduleOf(json.at("schedule"));
  saved.finding.violation.property = PropertyOf(json.at("property"));
  saved.finding.violation.text = json.at("text").get<std::string>();
  return saved;
}

}  // namespace

Json ScenarioJson(const Scenario& scenario) {
  return {{"ranks", scenario.ranks},     {"sizes", scenario.sizes},
          {"threads", scenario.threads}, {"publish", scenario.multicast ? "multicast" : "unicast"},
          {"streams", scenario.streams}, {"producer", scenario.producer},
          {"replays", scenario.replays}};
}

Json RulesJson(const WorldRules& rules) {
  return {{"links_in_order", rules.links_in_order},
          {"store_buffers", rules.store_buffers},
          {"lag", rules.lag},
          {"programmatic_launch", rules.programmatic_launch},
          {"resident_ctas", rules.resident_ctas},
          {"shared_gpu", rules.shared_gpu}};
}

Json ScheduleJson(const ScheduleId& schedule) {
  return {{"strategy", ToString(schedule.kind)},
          {"seed", schedule.seed},
          {"number", schedule.number},
          {"pct_steps", schedule.pct_steps},
          {"delays", schedule.delays}};
}

std::string SavedScheduleText(const SavedSchedule& saved) {
  const BuildFacts build = Build();
  const Finding& finding = saved.finding;
  const Json json = {
      {"tool", {{"name", "mailbench"}, {"version", build.version}, {"git", build.git}}},
      {"protocol", saved.protocol},
      {"scenario", ScenarioJson(finding.scenario)},
      {"rules", RulesJson(saved.rules)},
      {"schedule", ScheduleJson(finding.schedule)},
      {"property", ToString(finding.violation.property)},
      {"text", finding.violation.text}};
  return json.dump(2) + '\n';
}

SavedSchedule ReadSavedSchedule(const std::string& text, const std::string& source) try {
  return SavedScheduleOf(Json::parse(text));
} catch (const UsageError& error) {
  throw UsageError(source + " is not a saved schedule: " + error.what());
} catch (const Json::exception& error) {
  throw UsageError(source + " is not a saved schedule: " + Printable(error.what()));
}

}  // namespace mailbench
