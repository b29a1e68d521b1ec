#include "harness/command_line/resolve.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/flag_table.h"
#include "harness/command_line/quote.h"
#include "harness/command_line/sweep.h"
#include "harness/command_line/values.h"
#include "harness/error.h"

namespace mailbench {
namespace {

constexpr int kMostRanksPerGpu = 1024;
constexpr int kMostSamples = 1'000'000;
constexpr int kMostCallsPerGraph = 10'000;
constexpr int kMostStressCalls = 1'000'000'000;
constexpr double kShortestTimeout = 0.1;
constexpr double kLongestTimeout = 86'400;
constexpr std::size_t kLongestPath = 4095;  // PATH_MAX without its NUL

class Reader {
 public:
  explicit Reader(const Settings& settings) : settings_(settings) {}

  const Setting* Find(std::string_view name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? nullptr : &found->second;
  }
  int Count(std::string_view name, int least, int most, int standard) const {
    const Setting* setting = Find(name);
    if (setting == nullptr) return standard;
    return static_cast<int>(ParseCount(setting->origin, setting->items.front(),
                                       static_cast<std::uint64_t>(least),
                                       static_cast<std::uint64_t>(most)));
  }
  bool Switch(std::string_view name) const {
    const Setting* setting = Find(name);
    return setting != nullptr && setting->items.front() == "true";
  }
  // One of a few words.
  std::string Word(std::string_view name, std::string_view standard,
                   const std::vector<std::string_view>& accepted) const {
    const Setting* setting = Find(name);
    if (setting == nullptr) return std::string(standard);
    RequireOneOf(setting->origin, setting->items.front(), accepted);
    return setting->items.front();
  }
  // Several of a few words; empty when not given.
  std::vector<std::string> Words(std::string_view name,
                                 const std::vector<std::string_view>& accepted) const {
    const Setting* setting = Find(name);
    if (setting == nullptr) return {};
    RequireDistinct(*setting);
    for (const std::string& item : setting->items) RequireOneOf(setting->origin, item, accepted);
    return setting->items;
  }

 private:
  const Settings& settings_;
};

std::int64_t Capacity(const Reader& reader, std::int64_t largest) {
  const Setting* setting = reader.Find("capacity");
  if (setting == nullptr) return largest;
  const std::int64_t capacity = ParseSize(setting->origin, setting->items.front());
  if (largest > capacity) {
    throw UsageError(setting->origin + ": " + Quote(setting->items.front()) +
                     " is below the largest size, " + std::to_string(largest));
  }
  return capacity;
}

std::string OutputPath(const Reader& reader, std::string_view name) {
  const Setting* setting = reader.Find(name);
  if (setting == nullptr) return "";
  const std::string& path = setting->items.front();
  if (path.empty()) throw UsageError(setting->origin + ": the path is empty");
  if (path.size() > kLongestPath) Refuse(setting->origin, path, "is too long for a path");
  if (!IsPlainText(path)) {
    Refuse(setting->origin, path, "is no path: UTF-8 without control characters is required");
  }
  // Most likely the path was forgotten, and the next flag was taken for it.
  if (path.front() == '-') Refuse(setting->origin, path, "looks like a flag; write ./ before it");
  return path;
}

// The values of `all` that the setting names, in its order; `standard` when it is not given.
template <typename Value>
std::vector<Value> Values(const Reader& reader, std::string_view name,
                          std::initializer_list<Value> all, const std::vector<Value>& standard) {
  std::vector<std::string_view> accepted;
  for (const Value value : all) accepted.push_back(ToString(value));
  const std::vector<std::string> words = reader.Words(name, accepted);
  if (words.empty()) return standard;
  std::vector<Value> values;
  for (const std::string& word : words) {
    values.push_back(*std::find_if(all.begin(), all.end(),
                                   [&](Value value) { return word == ToString(value); }));
  }
  return values;
}

std::string Own(const Reader& reader, const FlagInfo& flag) {
  if (!flag.values.empty()) return reader.Word(flag.name, flag.standard, flag.values);
  const Setting* setting = reader.Find(flag.name);
  if (setting == nullptr) return std::string(flag.standard);
  const std::string& text = setting->items.front();
  if (text.empty() || !IsPlainText(text)) Refuse(setting->origin, text, "is not plain text");
  return text;
}

void RefuseMeaningless(const Settings& settings, const Collective& collective) {
  for (const auto& [name, setting] : settings) {
    const std::string reason = ReasonAgainst(name, collective);
    if (!reason.empty()) throw UsageError(setting.origin + ": " + reason);
  }
}

void RefuseTwoAnswers(const Reader& reader, const RunConfig& config) {
  if (!config.list || !config.dry_run) return;
  throw UsageError(reader.Find("list")->origin + " and " + reader.Find("dry-run")->origin +
                   " exclude each other: ask for one after the other");
}

void RefuseUnreportable(const Reader& reader, const RunConfig& config) {
  if (config.force && config.resume) {
    throw UsageError(reader.Find("force")->origin + " and " + reader.Find("resume")->origin +
                     " exclude each other");
  }
  if (config.resume && config.json.empty()) {
    throw UsageError(reader.Find("resume")->origin + " needs --json");
  }
  if (config.resume && !config.trace.empty()) {
    throw UsageError(reader.Find("resume")->origin + " and " + reader.Find("trace")->origin +
                     " exclude each other: the trace would lack the points of the earlier run");
  }
  if (config.force && config.json.empty() && config.trace.empty()) {
    throw UsageError(reader.Find("force")->origin + " needs --json or --trace");
  }
  if (!config.trace.empty() && config.trace == config.json) {
    throw UsageError(reader.Find("trace")->origin + " and " + reader.Find("json")->origin +
                     " name one file: " + Quote(config.trace));
  }
}

bool Only(const auto& values, const auto& value) {
  return std::all_of(values.begin(), values.end(), [&](const auto& each) { return each == value; });
}

// A trace that no point could be in.
void RefuseUntraceable(const Reader& reader, const RunConfig& config,
                       const Collective& collective) {
  if (config.trace.empty()) return;
  const std::string& trace = reader.Find("trace")->origin;
  if (Only(config.modes, Mode::kIsolated)) {
    throw UsageError(trace + " and " + reader.Find("mode")->origin +
                     " isolated exclude each other: calls that a gate releases are not traced");
  }
  if (Only(config.l2, L2State::kCold)) {
    throw UsageError(trace + " and " + reader.Find("l2")->origin +
                     " cold exclude each other: calls that find L2 cold are not traced");
  }
  std::string traced;
  for (const AlgorithmInfo& info : collective.algorithms()) {
    if (!info.traced) continue;
    const std::vector<std::string>& named = config.algorithms;
    if (named.empty() && !info.known_bad) return;
    if (std::find(named.begin(), named.end(), info.name) != named.end()) return;
    traced += (traced.empty() ? "" : ", ") + std::string(info.name);
  }
  if (traced.empty()) {
    throw UsageError(trace + ": no algorithm of " + std::string(collective.name()) +
                     " can be traced");
  }
  throw UsageError(trace + ": none of the algorithms asked for can be traced, only " + traced);
}

void RefuseUnstressable(const Reader& reader, const RunConfig& config) {
  if (config.stress == 0) return;
  const std::string& stress = reader.Find("stress")->origin;
  if (config.bytes.size() == 1) {
    throw UsageError(stress + " alternates sizes, and there is only one: " +
                     std::to_string(config.bytes.front()));
  }
  if (!config.check) {
    throw UsageError(stress + " checks every call: it cannot go with " +
                     reader.Find("check")->origin + " 0");
  }
  if (!config.trace.empty()) {
    throw UsageError(reader.Find("trace")->origin + " traces points, and " + stress +
                     " measures none");
  }
  std::string of_points;
  int count = 0;
  for (const char* name : {"mode", "l2", "iters", "warmup", "replays"}) {
    const Setting* setting = reader.Find(name);
    if (setting == nullptr) continue;
    of_points += (count++ == 0 ? "" : ", ") + setting->origin;
  }
  if (count > 0) {
    throw UsageError(of_points + (count == 1 ? " is" : " are") + " of points, and " + stress +
                     " measures none");
  }
  if (config.resume) {
    throw UsageError(reader.Find("resume")->origin + " goes on with points; " + stress +
                     " starts anew each time");
  }
}

}  // namespace

Settings Merge(const Settings& file, const Settings& flags) {
  Settings merged = file;
  for (const char* name : kSizeGroup) {
    if (!flags.contains(name)) continue;
    for (const char* replaced : kSizeGroup) merged.erase(replaced);
    break;
  }
  for (const auto& [name, setting] : flags) merged.insert_or_assign(name, setting);
  return merged;
}

RunConfig Resolve(const Settings& settings, const Collective& collective) {
  RefuseMeaningless(settings, collective);
  const Reader reader(settings);
  RunConfig config;
  if (collective.has_sizes()) {
    config.bytes = SweepSizes(settings);
    config.capacity = Capacity(reader, config.bytes.back());
  }

  std::vector<std::string_view> algorithms;
  for (const AlgorithmInfo& algorithm : collective.algorithms()) {
    algorithms.push_back(algorithm.name);
  }
  config.algorithms = reader.Words("algorithm", algorithms);
  config.transport = reader.Word("transport", config.transport,
                                 {"auto", "multicast", "unicast", "host", "host-multicast"});
  config.ranks_per_gpu = reader.Count("ranks-per-gpu", 1, kMostRanksPerGpu, config.ranks_per_gpu);
  config.modes =
      Values(reader, "mode", {Mode::kGraph, Mode::kIsolated, Mode::kEager}, config.modes);
  config.l2 = Values(reader, "l2", {L2State::kHot, L2State::kCold}, config.l2);
  config.iters = reader.Count("iters", 1, kMostSamples, config.iters);
  config.warmup = reader.Count("warmup", 0, kMostSamples, config.warmup);
  config.calls_per_graph =
      reader.Count("calls-per-graph", 1, kMostCallsPerGraph, config.calls_per_graph);
  config.replays = reader.Count("replays", 1, kMostSamples, config.iters);
  if (const Setting* seed = reader.Find("seed")) {
    config.seed = ParseCount(seed->origin, seed->items.front(), 0, UINT64_MAX);
  }
  if (const Setting* timeout = reader.Find("timeout")) {
    config.timeout_seconds =
        ParseDecimal(timeout->origin, timeout->items.front(), kShortestTimeout, kLongestTimeout);
  }
  config.check = reader.Count("check", 0, 1, config.check ? 1 : 0) == 1;

  config.stress = reader.Count("stress", 1, kMostStressCalls, config.stress);

  config.json = OutputPath(reader, "json");
  config.trace = OutputPath(reader, "trace");
  config.force = reader.Switch("force");
  config.resume = reader.Switch("resume");
  config.list = reader.Switch("list");
  config.dry_run = reader.Switch("dry-run");
  RefuseTwoAnswers(reader, config);
  RefuseUnreportable(reader, config);
  RefuseUnstressable(reader, config);
  RefuseUntraceable(reader, config, collective);

  for (const FlagInfo& flag : collective.flags()) {
    config.own[std::string(flag.name)] = Own(reader, flag);
  }
  return config;
}

}  // namespace mailbench
