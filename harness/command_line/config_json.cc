#include "harness/command_line/config_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace mailbench {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDifferences = 3;
constexpr std::size_t kLongestValue = 60;

std::string Dump(const json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

template <typename Value>
json NamesOf(const std::vector<Value>& values) {
  json names = json::array();
  for (const Value value : values) names.push_back(ToString(value));
  return names;
}

json ToJson(const RunConfig& config) {
  json object = {
      {"calls-per-graph", config.calls_per_graph},
      {"check", config.check},
      {"force", config.force},
      {"ranks-per-gpu", config.ranks_per_gpu},
      {"resume", config.resume},
      {"seed", config.seed},
      {"timeout", config.timeout_seconds},
      {"transport", config.transport},
  };
  if (!config.bytes.empty()) {
    object["bytes"] = config.bytes;
    object["capacity"] = config.capacity;
  }
  if (!config.algorithms.empty()) object["algorithm"] = config.algorithms;
  if (!config.json.empty()) object["json"] = config.json;
  if (!config.trace.empty()) object["trace"] = config.trace;
  if (config.stress > 0) {  // refuses what is of points
    object["stress"] = config.stress;
  } else {
    object["iters"] = config.iters;
    object["warmup"] = config.warmup;
    object["replays"] = config.replays;
    object["mode"] = NamesOf(config.modes);
    object["l2"] = NamesOf(config.l2);
  }
  if (config.list) object["list"] = true;
  if (config.dry_run) object["dry-run"] = true;
  for (const auto& [name, value] : config.own) object[name] = value;
  return object;
}

// The value as text; of a long one the part around its first difference from `other`.
std::string Shown(const json& object, const std::string& key, const std::string& other) {
  if (!object.contains(key)) return "not given";
  const std::string text = Dump(object.at(key));
  if (text.size() <= kLongestValue) return text;
  const auto differs = std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first;
  const auto at = static_cast<std::size_t>(differs - text.begin());
  const std::size_t start = at > kLongestValue / 2 ? at - kLongestValue / 2 : 0;
  const std::string part = text.substr(start, kLongestValue);
  return (start > 0 ? "..." : "") + part + (start + part.size() < text.size() ? "..." : "");
}

}  // namespace

std::string CanonicalJson(const RunConfig& config) { return Dump(ToJson(config)); }

std::string ReportedJson(const RunConfig& config) {
  json object = ToJson(config);
  for (const char* key : {"json", "trace", "force", "resume", "list", "dry-run"}) object.erase(key);
  return Dump(object);
}

std::string MeasuredJson(const RunConfig& config) {
  json object = ToJson(config);
  for (const char* key : {"json", "trace", "force", "resume", "list", "dry-run", "timeout"}) {
    object.erase(key);
  }
  return Dump(object);
}

std::uint64_t HashText(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string DescribeDifference(const std::string& canonical_a, const std::string& canonical_b) {
  if (canonical_a == canonical_b) return "";
  const json a = json::parse(canonical_a);
  const json b = json::parse(canonical_b);
  std::set<std::string> keys;
  for (const auto& item : a.items()) keys.insert(item.key());
  for (const auto& item : b.items()) keys.insert(item.key());
  std::string text;
  std::size_t count = 0;
  for (const std::string& key : keys) {
    if (a.contains(key) && b.contains(key) && a.at(key) == b.at(key)) continue;
    if (count++ == kMostDifferences) return text + "; ...";
    const std::string whole_a = a.contains(key) ? Dump(a.at(key)) : "";
    const std::string whole_b = b.contains(key) ? Dump(b.at(key)) : "";
    text += (text.empty() ? "" : "; ") + key + ": " + Shown(a, key, whole_b) + " against " +
            Shown(b, key, whole_a);
  }
  return text;
}

}  // namespace mailbench
