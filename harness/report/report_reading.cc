// What a run reads from the report or journal of an earlier one.
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/error.h"
#include "harness/report/report_json.h"

namespace mailbench {
namespace {

using Json = nlohmann::ordered_json;

std::string OneLine(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json ParseVersioned(const std::string& text, const std::string& source) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("schema_version")) {
    throw UsageError(source + " is not a report of mailbench");
  }
  if (json["schema_version"] != kReportSchemaVersion) {
    throw UsageError(source + " is of schema version " + OneLine(json["schema_version"]) +
                     "; this program reads version " + std::to_string(kReportSchemaVersion));
  }
  return json;
}

std::string Was(const std::string& name, const std::string& was, const std::string& is) {
  return name + " was " + was + " and is now " + is;
}

// The first key of the configs that is not as it was, of those that change what is measured.
std::string ConfigDifference(const nlohmann::json& old, const RunIdentity& identity) {
  const auto now = nlohmann::json::parse(identity.config);
  const auto measured = nlohmann::json::parse(identity.measured_config);
  for (const auto& [key, value] : measured.items()) {
    if (!old.contains(key)) return Was(key, "not given", value.dump());
    if (old[key] != value) return Was(key, old[key].dump(), value.dump());
  }
  for (const auto& [key, value] : old.items()) {
    if (!now.contains(key) && !measured.contains(key)) return Was(key, value.dump(), "not given");
  }
  return "";
}

}  // namespace

ReportPieces SplitReport(const std::string& text, const std::string& source) {
  Json report = ParseVersioned(text, source);
  const Json points = report.value("points", Json());
  if (!points.is_array()) throw UsageError(source + " is not a report: it has no list of points");
  ReportPieces pieces;
  for (const Json& point : points) pieces.points.push_back(OneLine(point));
  for (const char* key : {"points", "stress", "errors"}) report.erase(key);
  pieces.header = OneLine(report);
  return pieces;
}

bool IsOfStress(const std::string& header) {
  const Json json = Json::parse(header, nullptr, /*allow_exceptions=*/false);
  return json.is_object() && json.contains("config") && json["config"].contains("stress");
}

bool HasEnded(const std::string& header) {
  const Json json = Json::parse(header, nullptr, /*allow_exceptions=*/false);
  const Json run = json.is_object() ? json.value("run", Json()) : Json();
  const Json status = run.is_object() ? run.value("status", Json()) : Json();
  return status == ToString(RunStatus::kPassed) || status == ToString(RunStatus::kWrong);
}

std::string DifferenceForResume(const std::string& header, const RunIdentity& identity,
                                const std::string& source) try {
  const Json old = ParseVersioned(header, source);
  if (IsOfStress(header)) return "it is of a stress, which starts anew each time";
  const auto collective = old.at("collective").get<std::string>();
  if (collective != identity.collective) return Was("collective", collective, identity.collective);
  const int ranks = old.at("environment").at("ranks").get<int>();
  if (ranks != identity.ranks) {
    return Was("the number of ranks", std::to_string(ranks), std::to_string(identity.ranks));
  }
  const auto version = old.at("tool").at("version").get<std::string>();
  if (version != identity.build.version) return Was("version", version, identity.build.version);
  const auto git = old.at("tool").at("git").get<std::string>();
  if (git != identity.build.git) return Was("the build's commit", git, identity.build.git);

  return ConfigDifference(old.at("config"), identity);
} catch (const Json::exception& error) {
  throw UsageError(source + " is not a report: " + error.what());
}

PointSummary SummarizePoint(const std::string& point, const std::string& source) try {
  const Json json = Json::parse(point);
  PointKey key;
  key.collective = json.at("collective").get<std::string>();
  key.algorithm = json.at("algorithm").get<std::string>();
  key.transport = json.at("transport").get<std::string>();
  key.mode = json.at("mode").get<std::string>();
  key.l2 = json.at("l2").get<std::string>();
  key.ranks = json.at("ranks").get<int>();
  for (const auto& [name, value] : json.at("shape").items()) {
    key.shape.variables.emplace_back(name, value.get<std::int64_t>());
  }
  PointSummary summary;
  summary.key = ToString(key);
  const Json& check = json.at("check");
  summary.wrong = check.is_object() && (check.at("mismatches").get<std::uint64_t>() != 0 ||
                                        check.at("leftover").get<std::uint64_t>() != 0);
  return summary;
} catch (const Json::exception& error) {
  throw UsageError(source + " holds a point that cannot be read: " + error.what());
}

}  // namespace mailbench
