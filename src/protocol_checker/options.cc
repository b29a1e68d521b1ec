#include "src/protocol_checker/options.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <thread>

#include "harness/command_line/quote.h"
#include "harness/command_line/read_flags.h"
#include "harness/command_line/settings.h"
#include "harness/command_line/values.h"
#include "harness/error.h"
#include "src/protocol_checker/flags.h"
#include "src/protocol_checker/limits.h"
#include "src/protocol_checker/models.h"

namespace mailbench {
namespace {

constexpr std::uint64_t kMostJobs = 1024;
constexpr double kMostSeconds = 1e6;
constexpr double kUsualSeconds = 3;

class Reader {
 public:
  explicit Reader(const Settings& settings) : settings_(settings) {}

  bool Has(std::string_view name) const { return settings_.contains(name); }
  const Setting* Get(std::string_view name) const {
    const auto found = settings_.find(name);
    return found == settings_.end() ? nullptr : &found->second;
  }
  std::string Text(std::string_view name, std::string standard) const {
    const Setting* setting = Get(name);
    return setting == nullptr ? standard : setting->items.front();
  }
  std::uint64_t Count(std::string_view name, std::uint64_t standard, std::uint64_t least,
                      std::uint64_t most) const {
    const Setting* setting = Get(name);
    if (setting == nullptr) return standard;
    return ParseCount(setting->origin, setting->items.front(), least, most);
  }
  std::string Word(std::string_view name, const std::vector<std::string_view>& accepted) const {
    const Setting* setting = Get(name);
    if (setting == nullptr) return std::string(accepted.front());
    RequireOneOf(setting->origin, setting->items.front(), accepted);
    return setting->items.front();
  }
  std::string Path(std::string_view name) const {
    const Setting* setting = Get(name);
    if (setting == nullptr) return "";
    if (setting->items.front().empty()) Refuse(setting->origin, "", "is not a path");
    if (!IsPlainText(setting->items.front())) {
      Refuse(setting->origin, setting->items.front(), "is not a path in UTF-8");
    }
    return setting->items.front();
  }

 private:
  const Settings& settings_;
};

std::vector<std::int64_t> ReadSizes(const Reader& reader) {
  const Setting* setting = reader.Get("sizes");
  if (setting == nullptr) return {1, 2, 1, 2};
  if (setting->items.size() > kMostCalls) {
    Refuse(setting->origin, std::to_string(setting->items.size()) + " sizes",
           "are more than " + std::to_string(kMostCalls));
  }
  std::vector<std::int64_t> sizes;
  for (const std::string& item : setting->items) {
    sizes.push_back(static_cast<std::int64_t>(ParseCount(setting->origin, item, 1, kMostPacks)));
  }
  return sizes;
}

std::vector<int> ReadRanks(const Reader& reader) {
  const Setting* setting = reader.Get("ranks");
  if (setting == nullptr) return {2};
  RequireDistinct(*setting);
  std::vector<int> ranks;
  for (const std::string& item : setting->items) {
    ranks.push_back(static_cast<int>(ParseCount(setting->origin, item, 1, kMostRanks)));
  }
  return ranks;
}

// All but the ranks.
Scenario ReadScenario(const Reader& reader) {
  Scenario scenario;
  scenario.sizes = ReadSizes(reader);
  scenario.threads = static_cast<int>(reader.Count("threads", 1, 1, kMostThreads));
  scenario.multicast = reader.Word("publish", {"multicast", "unicast"}) == "multicast";
  scenario.streams = static_cast<int>(reader.Count("streams", 1, 1, kMostStreams));
  scenario.producer = reader.Has("producer");
  scenario.replays = static_cast<int>(reader.Count("replays", 1, 1, kMostReplays));
  if (scenario.replays > 1 && scenario.streams > 1) {
    throw UsageError("--replays " + Quote(reader.Text("replays", "")) + " and --streams " +
                     Quote(reader.Text("streams", "")) +
                     " exclude each other: a graph is replayed on one stream");
  }
  return scenario;
}

void ReadFabric(const Reader& reader, WorldRules& rules) {
  const Setting* setting = reader.Get("fabric");
  if (setting == nullptr) return;
  RequireDistinct(*setting);
  for (const std::string& item : setting->items) {
    constexpr std::string_view kLag = "lag=";
    if (item.starts_with(kLag)) {
      if (rules.lag > 0) Refuse(setting->origin, item, "is a second lag");
      rules.lag = static_cast<int>(
          ParseCount(setting->origin + " lag", item.substr(kLag.size()), 1, kMostLag));
      continue;
    }
    RequireOneOf(setting->origin, item, {"in-order", "no-store-buffers", "lag=K"});
    if (item == "in-order") {
      rules.links_in_order = true;
    } else {
      rules.store_buffers = false;
    }
  }
}

WorldRules ReadRules(const Reader& reader) {
  WorldRules rules;
  ReadFabric(reader, rules);
  rules.programmatic_launch = reader.Word("pdl", {"on", "off"}) == "on";
  rules.resident_ctas = static_cast<int>(reader.Count("resident-ctas", 0, 0, kMostResidentCtas));
  rules.shared_gpu = reader.Has("shared-gpu");
  if (rules.shared_gpu && rules.resident_ctas == 0) {
    throw UsageError(
        "--shared-gpu needs --resident-ctas: without a limit there is nothing to share");
  }
  return rules;
}

std::vector<StrategyKind> ReadStrategies(const Reader& reader) {
  using enum StrategyKind;
  const Setting* setting = reader.Get("strategy");
  if (setting == nullptr) return {kBiased, kPct, kExhaustive};
  RequireDistinct(*setting);
  std::vector<StrategyKind> kinds;
  for (const std::string& item : setting->items) {
    RequireOneOf(setting->origin, item, {"biased", "pct", "uniform", "exhaustive"});
    for (const StrategyKind kind : {kBiased, kPct, kUniform, kExhaustive}) {
      if (item == ToString(kind)) kinds.push_back(kind);
    }
  }
  return kinds;
}

void ReadBudget(const Reader& reader, CheckerOptions& options) {
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  if (reader.Has("schedules") && reader.Has("seconds")) {
    throw UsageError("--schedules " + Quote(reader.Text("schedules", "")) + " and --seconds " +
                     Quote(reader.Text("seconds", "")) + " exclude each other");
  }
  options.schedules = reader.Count("schedules", 0, 1, kAny);
  if (const Setting* setting = reader.Get("seconds")) {
    options.seconds = ParseDecimal(setting->origin, setting->items.front(), 0.01, kMostSeconds);
  } else if (options.schedules == 0) {
    options.seconds = kUsualSeconds;
  }
  options.delay_bound = static_cast<int>(reader.Count("delay-bound", 2, 0, 6));
  options.seed = reader.Count("seed", 1, 0, kAny);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  options.jobs = static_cast<int>(reader.Count("jobs", cores, 1, kMostJobs));
}

std::vector<const Model*> ReadProtocols(const Reader& reader, const std::vector<Model>& models) {
  const Setting* setting = reader.Get("protocol");
  if (setting == nullptr) throw UsageError("--protocol is missing; --list names them");
  RequireDistinct(*setting);
  std::vector<const Model*> protocols;
  for (const std::string& item : setting->items) {
    protocols.push_back(FindModel(models, item));
    if (protocols.back() == nullptr) {
      Refuse(setting->origin, item, "is no protocol; --list names them");
    }
  }
  return protocols;
}

std::vector<CheckerCase> ReadCases(const Reader& reader, const std::vector<Model>& models) {
  std::vector<CheckerCase> cases;
  for (const Model* model : ReadProtocols(reader, models)) {
    for (const int ranks : ReadRanks(reader)) {
      cases.push_back({model, ReadScenario(reader)});
      cases.back().scenario.ranks = ranks;
      if (!model->gathers) cases.back().scenario.multicast = false;
    }
  }
  return cases;
}

// What only gathers have a use for.
void RefuseWithoutGathers(const Reader& reader, const std::vector<CheckerCase>& cases) {
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [](const CheckerCase& each) { return !each.model->gathers; });
  if (found == cases.end()) return;
  for (const std::string_view name :
       {"publish", "streams", "producer", "replays", "resident-ctas", "shared-gpu"}) {
    const Setting* setting = reader.Get(name);
    if (setting == nullptr) continue;
    Refuse(setting->origin, setting->items.front(),
           "does not go with protocol " + found->model->name + ", which gathers nothing");
  }
}

void RefuseBesideReplay(const Settings& settings) {
  const std::set<std::string_view> allowed = {"replay", "trace", "force"};
  for (const auto& [name, setting] : settings) {
    if (allowed.contains(name)) continue;
    throw UsageError(setting.origin + ": " + Quote(setting.items.front()) +
                     " does not go with --replay: the file says it all");
  }
}

void RefuseOneFileForTwo(const CheckerOptions& options) {
  std::set<std::string> paths;
  for (const std::string& path : {options.json, options.save_replay, options.trace}) {
    if (!path.empty() && !paths.insert(path).second) {
      throw UsageError(Quote(path) + " is given for two of --json, --save-replay and --trace");
    }
  }
}

}  // namespace

CheckerOptions ReadCheckerOptions(std::span<const char* const> args,
                                  const std::vector<Model>& models) {
  const Settings settings = ReadFlags(args, CheckerFlags());
  const Reader reader(settings);
  CheckerOptions options;
  if (reader.Has("help")) {
    options.text = CheckerHelp();
  } else if (reader.Has("version")) {
    options.text = CheckerVersion();
  } else if (reader.Has("list")) {
    options.text = ModelList(models);
  }
  if (!options.text.empty()) return options;

  options.replay = reader.Path("replay");
  options.trace = reader.Path("trace");
  options.force = reader.Has("force");
  if (!options.replay.empty()) {
    RefuseBesideReplay(settings);
    return options;
  }
  options.cases = ReadCases(reader, models);
  RefuseWithoutGathers(reader, options.cases);
  options.rules = ReadRules(reader);
  options.strategies = ReadStrategies(reader);
  ReadBudget(reader, options);
  options.json = reader.Path("json");
  options.save_replay = reader.Path("save-replay");
  RefuseOneFileForTwo(options);
  return options;
}

}  // namespace mailbench
