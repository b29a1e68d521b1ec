#include "harness/command_line/fuzz.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/config_file.h"
#include "harness/command_line/config_json.h"
#include "harness/command_line/fake_collective.h"
#include "harness/command_line/flag_table.h"
#include "harness/command_line/read_flags.h"
#include "harness/command_line/resolve.h"
#include "harness/error.h"

namespace mailbench {
namespace {

void Require(bool holds, const std::string& promise) {
  if (!holds) throw std::logic_error("broken promise: " + promise);
}

void RequireConsistent(const RunConfig& config, const FakeCollective& collective) {
  Require(!config.bytes.empty() && config.bytes.size() <= 4096, "1 to 4096 sizes");
  Require(std::is_sorted(config.bytes.begin(), config.bytes.end(), std::less_equal<>()),
          "sizes ascend");
  for (const std::int64_t size : config.bytes) {
    Require(size > 0 && size % 16 == 0 && size <= config.capacity, "sizes fit the capacity");
  }
  Require(config.capacity % 16 == 0 && config.capacity <= (std::int64_t{1} << 36), "capacity");
  Require(config.iters >= 1 && config.iters <= 1'000'000, "iters");
  Require(config.replays >= 1 && config.replays <= 1'000'000, "replays");
  Require(config.warmup >= 0 && config.warmup <= 1'000'000, "warmup");
  Require(config.calls_per_graph >= 1 && config.calls_per_graph <= 10'000, "calls-per-graph");
  Require(config.timeout_seconds >= 0.1 && config.timeout_seconds <= 86'400, "timeout");
  Require(!config.modes.empty() && config.modes.size() <= 3, "modes");
  Require(!config.l2.empty() && config.l2.size() <= 2, "l2");
  Require(std::set<std::string>(config.algorithms.begin(), config.algorithms.end()).size() ==
              config.algorithms.size(),
          "algorithms are distinct");
  Require(config.stress >= 0 && config.stress <= 1'000'000'000, "stress");
  Require(config.stress == 0 || (config.bytes.size() > 1 && config.check && !config.resume),
          "stress alternates sizes, checks them and starts anew");
  Require(!(config.force && config.resume), "not both force and resume");
  Require(!(config.list && config.dry_run), "not both list and dry-run");
  Require(!config.json.empty() || (!config.force && !config.resume), "force, resume have a report");
  Require(!config.resume || config.trace.empty(), "no trace of a part of a run");
  Require(config.own.size() == collective.flags().size(), "every own flag is present");
}

// The canonical text is a config file for the same run, but for the switches that only flags have.
void RequireStable(RunConfig config, const std::vector<Flag>& flags,
                   const FakeCollective& collective) {
  Require(nlohmann::json::parse(CanonicalJson(config)).is_object(), "canonical text is JSON");
  config.list = false;
  config.dry_run = false;
  const std::string canonical = CanonicalJson(config);
  const Settings settings = ParseConfigText(canonical, "canonical", flags);
  const std::string again = CanonicalJson(Resolve(settings, collective));
  Require(again == canonical, "canonical text is stable: " + DescribeDifference(canonical, again));
}

void RequirePrintable(const std::string& message) {
  Require(!message.empty(), "a message says something");
  Require(message.size() < 2000, "a message is short");
  Require(std::all_of(message.begin(), message.end(), [](char c) { return ' ' <= c && c <= '~'; }),
          "a message is one printable line");
}

struct Input {
  std::vector<std::string> args;
  std::string_view config;
};

Input Split(std::string_view bytes) {
  Input input;
  if (!bytes.starts_with('$')) {
    input.config = bytes;
    return input;
  }
  bytes.remove_prefix(1);
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view line = bytes.substr(0, newline);
    bytes.remove_prefix(newline == std::string_view::npos ? bytes.size() : newline + 1);
    if (line == "%") {
      input.config = bytes;
      break;
    }
    input.args.emplace_back(line);
  }
  return input;
}

RunConfig Parse(std::string_view bytes, const std::vector<Flag>& flags,
                const FakeCollective& collective) {
  const Input input = Split(bytes);
  std::vector<const char*> args;
  for (const std::string& arg : input.args) args.push_back(arg.c_str());
  const Settings given = ReadFlags(args, flags);
  Settings file;
  if (args.empty() || !input.config.empty()) {
    file = ParseConfigText(input.config, "config", flags);
  }
  return Resolve(Merge(file, given), collective);
}

}  // namespace

FuzzOutcome FuzzOne(const std::uint8_t* data, std::size_t size) {
  static const FakeCollective* const kCollective = new FakeCollective;
  static const std::vector<Flag>* const kFlags = new std::vector<Flag>(FlagsOf(*kCollective));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  RunConfig config;
  try {
    config = Parse(bytes, *kFlags, *kCollective);
  } catch (const UsageError& error) {
    RequirePrintable(error.what());
    return FuzzOutcome::kRefused;
  }
  RequireConsistent(config, *kCollective);
  RequireStable(config, *kFlags, *kCollective);
  return FuzzOutcome::kAccepted;
}

}  // namespace mailbench
