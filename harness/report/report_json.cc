#include "harness/report/report_json.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "harness/error.h"
#include "harness/report/environment_json.h"
#include "harness/report/json_values.h"
#include "kernels/machine/hex.h"

namespace mailbench {
namespace {

constexpr int kOneLine = -1;

std::string Dump(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

Json FiniteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Throws unless every number in `json`, the point's field `name`, is finite.
void RequireFinite(const Json& json, const std::string& name, const PointKey& key) {
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    throw SystemError("point " + ToString(key) + ": " + name + " is not a finite number");
  }
  if (!json.is_structured()) return;
  for (const auto& [inner, value] : json.items()) {
    RequireFinite(value, json.is_object() ? name + '.' + inner : name, key);
  }
}

Json IntervalJson(const MedianInterval& interval) {
  return {{"low", FiniteOrNull(interval.low)},
          {"high", FiniteOrNull(interval.high)},
          {"confidence", interval.confidence}};
}

Json LatencyJson(const PointRecord& point) {
  const Summary& summary = point.latency_us;
  const MedianInterval& interval = point.p50_interval_us;
  const auto kept = std::min<std::size_t>(point.samples_us.size(), kSamplesPerPoint);
  return {{"min", summary.min},
          {"p50", summary.p50},
          {"p90", NumberOrNull(summary.p90)},
          {"p99", NumberOrNull(summary.p99)},
          {"p999", NumberOrNull(summary.p999)},
          {"max", summary.max},
          {"mean", summary.mean},
          {"p50_interval",
           {{"low", interval.low}, {"high", interval.high}, {"confidence", interval.confidence}}},
          {"clock_step", NumberOrNull(point.clock_step_us)},
          {"count", point.samples_us.size()},
          {"samples",
           std::vector<double>(point.samples_us.begin(),
                               point.samples_us.begin() + static_cast<std::ptrdiff_t>(kept))}};
}

Json PerRankJson(const PointRecord& point) {
  Json per_rank = Json::array();
  for (std::size_t rank = 0; rank < point.per_rank.size(); ++rank) {
    const RankLatency& own = point.per_rank[rank];
    per_rank.push_back({{"rank", rank},
                        {"min", own.min},
                        {"p50", own.p50},
                        {"max", own.max},
                        {"longest", own.longest},
                        {"clock_before_mhz", NumberOrNull(own.clock_before_mhz)},
                        {"clock_after_mhz", NumberOrNull(own.clock_after_mhz)}});
  }
  return per_rank;
}

Json CheckJson(const PointRecord& point) {
  if (!point.checked) return nullptr;
  const CheckResult& check = point.check;
  return {{"kind", "bitwise"},
          {"reference", point.check_reference},
          {"calls", check.calls},
          {"compared", check.compared},
          {"mismatches", check.mismatches},
          {"audited", check.audited},
          {"leftover", check.leftover},
          {"first", TextOrNull(check.first)}};
}

Json FloorJson(const PointRecord& point) {
  if (!point.floor) return nullptr;
  const Floor& floor = *point.floor;
  Json json = {{"call", point.floor_call_us ? FiniteOrNull(*point.floor_call_us) : Json(nullptr)},
               {"steady", floor.steady}};
  Json intervals = Json::object();
  const auto put = [&](const char* name, const std::optional<FloorPart>& part) {
    json[name] = part ? FiniteOrNull(part->us) : Json(nullptr);
    intervals[name] = part ? IntervalJson(part->interval_us) : Json(nullptr);
  };
  put("empty_kernel", floor.empty_kernel);
  put("hop", floor.hop);
  put("publish_to_all", floor.publish_to_all);
  put("isolated_call", floor.isolated_call);
  put("eager_call", floor.eager_call);
  json["intervals"] = std::move(intervals);
  return json;
}

Json FloorRatio(const PointRecord& point) {
  if (!point.floor_call_us) return nullptr;
  return FiniteOrNull(point.latency_us.p50 / *point.floor_call_us);
}

Json WarmUpJson(const WarmUp& warmup) {
  return {{"samples", warmup.samples},
          {"steady", warmup.steady ? Json(*warmup.steady) : Json(nullptr)}};
}

Json ShapeJson(const Shape& shape) {
  Json json = Json::object();
  for (const auto& [name, value] : shape.variables) json[name] = value;
  return json;
}

Json KernelsJson(const PointRecord& point) {
  Json kernels = Json::array();
  for (const KernelCount& kernel : point.kernels) {
    kernels.push_back({{"name", kernel.name}, {"count", kernel.count}});
  }
  return kernels;
}

Json TraceJson(const PointRecord& point) {
  if (!point.trace) return nullptr;
  const TraceSummary& trace = *point.trace;
  const Json json = {{"calls", trace.calls},
                     {"last_rank", trace.last_rank < 0 ? Json(nullptr) : Json(trace.last_rank)},
                     {"last_calls", trace.last_calls},
                     {"last_by_us", trace.last_rank < 0 ? Json(nullptr) : Json(trace.last_by_us)},
                     {"undecided_calls", trace.undecided_calls},
                     {"last_by_rank", trace.last_by_rank},
                     {"publish_us", trace.publish_us},
                     {"wait_us", trace.wait_us},
                     {"collect_us", trace.collect_us},
                     {"clock_error_us", trace.clock_error_us},
                     {"clock_step_us", trace.clock_step_us}};
  RequireFinite(json, "trace", point.key);
  return json;
}

struct StragglerFields {
  Json rank, share, unknown;
};

StragglerFields StragglerJson(const PointRecord& point) {
  if (!point.trace) return {nullptr, nullptr, TextOrNull(point.untraced)};
  const std::optional<int> straggler = Straggler(*point.trace, point.latency_us.p50);
  if (!straggler) {
    return {nullptr, nullptr, WhyNoStraggler(*point.trace, point.latency_us.p50)};
  }
  return {*straggler, static_cast<double>(point.trace->last_calls) / point.trace->calls, nullptr};
}

Json SkippedJson(const std::vector<Skipped>& list) {
  Json skipped = Json::array();
  for (const Skipped& entry : list) {
    skipped.push_back({{"algorithm", entry.algorithm},
                       {"shape", entry.shape ? ShapeJson(*entry.shape) : Json(nullptr)},
                       {"reason", entry.reason}});
  }
  return skipped;
}

Json ToolJson(const BuildFacts& build) {
  return {{"name", "mailbench"},
          {"version", build.version},
          {"git", build.git},
          {"build", {{"compiler", build.compiler}, {"cuda", TextOrNull(build.cuda)}}}};
}

}  // namespace

double WrongPerMillion(const StressRecord& record) {
  if (record.calls == 0) return 0;
  return 1e6 * static_cast<double>(record.wrong_calls) / static_cast<double>(record.calls);
}

std::string PointJson(const PointRecord& point) {
  const Json latency = LatencyJson(point);
  RequireFinite(latency, "latency_us", point.key);
  const Json per_rank = PerRankJson(point);
  RequireFinite(per_rank, "per_rank", point.key);
  const StragglerFields straggler = StragglerJson(point);
  return Dump({{"collective", point.key.collective},
               {"algorithm", point.key.algorithm},
               {"transport", point.key.transport},
               {"mode", point.key.mode},
               {"l2", point.key.l2},
               {"l2_evicted", TextOrNull(point.l2_evicted)},
               {"ranks", point.key.ranks},
               {"shape", ShapeJson(point.key.shape)},
               {"bytes_per_rank", point.key.shape.bytes_per_rank},
               {"bytes_total", point.key.shape.bytes_total},
               {"calls_per_sample", point.calls_per_sample},
               {"warmup", WarmUpJson(point.warmup)},
               {"latency_us", latency},
               {"per_rank", per_rank},
               {"straggler", straggler.rank},
               {"straggler_share", straggler.share},
               {"straggler_unknown", straggler.unknown},
               {"algbw", FiniteOrNull(point.algbw_gb_per_s)},
               {"busbw", FiniteOrNull(point.busbw_gb_per_s)},
               {"floor_us", FloorJson(point)},
               {"floor_ratio", FloorRatio(point)},
               {"input_copies_per_call", FiniteOrNull(point.input_copies_per_call)},
               {"kernels", KernelsJson(point)},
               {"check", CheckJson(point)},
               {"trace", TraceJson(point)}},
              kOneLine);
}

namespace {

Json WrongWordsJson(const StressRecord& record) {
  Json words = Json::array();
  for (const WrongWord& wrong : record.wrong) {
    Json seen = Json::array();
    for (const std::uint32_t word : wrong.seen) seen.push_back(Hex(word));
    words.push_back({{"call", wrong.call},
                     {"rank", wrong.rank},
                     {"source", wrong.source},
                     {"pack", wrong.pack},
                     {"word", wrong.word},
                     {"expected", Hex(wrong.expected)},
                     {"seen", std::move(seen)},
                     {"origin", TextOrNull(wrong.origin)}});
  }
  return words;
}

}  // namespace

std::string StressJson(const StressRecord& record) {
  Json shapes = Json::array();
  for (const Shape& shape : record.shapes) shapes.push_back(ShapeJson(shape));
  return Dump({{"kind", "stress"},
               {"collective", record.collective},
               {"algorithm", record.algorithm},
               {"transport", record.transport},
               {"ranks", record.ranks},
               {"seed", record.seed},
               {"shapes", std::move(shapes)},
               {"patterns", record.patterns},
               {"calls_per_graph", record.calls_per_graph},
               {"calls_wanted", record.calls_wanted},
               {"finished", record.finished},
               {"calls", record.calls},
               {"wrong_calls", record.wrong_calls},
               {"wrong_per_million", WrongPerMillion(record)},
               {"compared", record.check.compared},
               {"mismatches", record.check.mismatches},
               {"audited", record.check.audited},
               {"leftover", record.check.leftover},
               {"first", TextOrNull(record.check.first)},
               {"wrong_words", WrongWordsJson(record)},
               {"verified_us", record.verified_us},
               {"bare_us", record.bare_us},
               {"seconds", record.seconds}},
              kOneLine);
}

std::string HeaderJson(const RunFacts& facts, int resumed_points) {
  Json config = Json::parse(facts.identity.config, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) throw std::invalid_argument("the config is not a JSON object");
  return Dump({{"schema_version", kReportSchemaVersion},
               {"tool", ToolJson(facts.identity.build)},
               {"collective", facts.identity.collective},
               {"run", {{"start", facts.start}, {"resumed_points", resumed_points}}},
               {"environment", EnvironmentJson(facts.environment)},
               {"limits", {{"samples_per_point", kSamplesPerPoint}}},
               {"config", std::move(config)},
               {"skipped", SkippedJson(facts.skipped)}},
              kOneLine);
}

std::string ReportJson(const std::string& header, const std::vector<std::string>& points,
                       const std::vector<std::string>& stress, const RunEnding& ending) {
  Json report = Json::parse(header);
  Json& run = report["run"];
  run["end"] = ending.end.empty() ? TimestampUtc() : ending.end;
  run["status"] = ToString(ending.status);
  run["reason"] = ending.reason;
  Json errors = Json::array();
  for (const RunError& error : ending.errors) {
    errors.push_back({{"rank", NumberOrNull(error.rank)}, {"what", error.what}});
  }
  report["points"] = Json::array();
  report["stress"] = Json::array();
  for (const std::string& record : stress) report["stress"].push_back(Json::parse(record));
  report["errors"] = std::move(errors);

  std::string text = Dump(report, 2) + '\n';
  if (points.empty()) return text;
  // The points are already text, and there may be megabytes of them. Only a key of the top level
  // stands behind a line's end and two spaces.
  const std::string placeholder = "\n  \"points\": []";
  const std::size_t end_of_list = text.find(placeholder) + placeholder.size() - 1;
  std::string list;
  for (const std::string& point : points) {
    list += list.empty() ? "\n    " : ",\n    ";
    list += point;
  }
  list += "\n  ";
  return text.insert(end_of_list, list);
}

bool IsJson(const std::string& text) { return Json::accept(text); }

bool IsStressJson(const std::string& text) { return text.starts_with(R"({"kind":"stress",)"); }

bool SameStress(const std::string& a, const std::string& b) {
  if (!IsStressJson(a) || !IsStressJson(b)) return false;
  return Json::parse(a).value("algorithm", "") == Json::parse(b).value("algorithm", "");
}

}  // namespace mailbench
