#include "harness/command_line/flag_table.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "harness/command_line/sweep.h"

namespace mailbench {
namespace {

constexpr const char* kSizes = "Sizes, in bytes a rank (K, M, G are binary; multiples of 16)";
constexpr const char* kRun = "Run";
constexpr const char* kChecks = "Checks";
constexpr const char* kOutput = "Output";
constexpr const char* kOther = "Other";

std::vector<Flag> CommonFlags() {
  using enum FlagType;
  return {
      {"min-bytes", "b", kSize, kSizes, "SIZE", "smallest size (default: 16)"},
      {"max-bytes", "e", kSize, kSizes, "SIZE", "largest size (default: 512K)"},
      {"step-factor", "f", kCount, kSizes, "N", "multiply by N from size to size (default: 2)"},
      {"step-bytes", "i", kSize, kSizes, "SIZE", "add SIZE from size to size instead"},
      {"bytes", "", kSizeList, kSizes, "LIST", "exactly these, ascending: 16,1K,64K"},
      {"capacity", "", kSize, kSizes, "SIZE", "what a mailbox holds (default: the largest size)"},

      {"algorithm", "", kWordList, kRun, "LIST",
       "default: the subject and all it is compared with that can run"},
      {"transport", "", kWord, kRun, "T",
       "auto, multicast, unicast, host, host-multicast (default: auto)"},
      {"ranks-per-gpu", "", kCount, kRun, "N",
       "ranks that may share one GPU, under MPS (default: 1)"},
      {"mode", "", kWordList, kRun, "LIST", "graph, isolated, eager (default: graph,eager)"},
      {"l2", "", kWordList, kRun, "LIST",
       "hot, cold: what a call finds in a GPU's L2 cache (default: hot)"},
      {"iters", "n", kCount, kRun, "N", "samples a point (default: 20)"},
      {"warmup", "w", kCount, kRun, "N",
       "samples thrown away first, and more until steady; 0: none (default: 5)"},
      {"calls-per-graph", "", kCount, kRun, "N", "calls in one graph (default: 10)"},
      {"replays", "", kCount, kRun, "N", "samples a point in mode graph (default: --iters)"},
      {"timeout", "T", kSeconds, kRun, "SECONDS",
       "without progress for so long, the run ends (default: 60)"},

      {"check", "c", kZeroOrOne, kChecks, "0|1", "compare every result (default: 1)"},
      {"stress", "", kCount, kChecks, "CALLS",
       "so many calls of alternating sizes, each checked, and no points"},
      {"seed", "", kCount, kChecks, "N", "of the payload (default: 1)"},

      {"json", "J", kPath, kOutput, "FILE", "write the report there"},
      {"trace", "", kPath, kOutput, "FILE",
       "trace calls of each point after its samples; for ui.perfetto.dev"},
      {"force", "", kSwitch, kOutput, "", "replace a report or trace that exists"},
      {"resume", "", kSwitch, kOutput, "",
       "measure only what the report still lacks; not with --trace"},

      {"config", "", kPath, kOther, "FILE",
       "JSON object of long flag names; flags given here come first", false},
      {"list", "", kSwitch, kOther, "", "print algorithms and transports, run nothing", false},
      {"dry-run", "", kSwitch, kOther, "", "print what would run, run nothing", false},
      {"version", "", kSwitch, kOther, "", "print the version", false},
      {"help", "h", kSwitch, kOther, "", "print this text", false},
  };
}

std::string OwnSummary(const FlagInfo& info) {
  std::string values;
  for (const std::string_view value : info.values) {
    values += (values.empty() ? "" : ", ") + std::string(value);
  }
  const std::string standard = "(default: " + std::string(info.standard) + ")";
  // The values on a line of their own: how many there are is the collective's choice.
  return std::string(info.summary) + (values.empty() ? " " : "\n" + values + " ") + standard;
}

bool IsOfSizes(std::string_view flag) {
  return flag == "capacity" ||
         std::find(std::begin(kSizeGroup), std::end(kSizeGroup), flag) != std::end(kSizeGroup);
}

}  // namespace

std::string ReasonAgainst(std::string_view flag, const Collective& collective) {
  const std::string name(collective.name());
  if (IsOfSizes(flag) && !collective.has_sizes()) return name + " has no sizes";
  if (flag == "stress" && !collective.can_be_stressed()) return name + " cannot be stressed";
  return "";
}

bool IsList(FlagType type) { return type == FlagType::kSizeList || type == FlagType::kWordList; }

std::vector<Flag> FlagsOf(const Collective& collective) {
  std::vector<Flag> flags = CommonFlags();
  for (const FlagInfo& info : collective.flags()) {
    if (FindFlag(flags, info.name) != nullptr) {
      throw std::logic_error("flag declared twice: --" + std::string(info.name));
    }
    // Before the last group, which is about the program rather than the run.
    const auto place = std::find_if(flags.begin(), flags.end(),
                                    [](const Flag& flag) { return flag.group == kOther; });
    flags.insert(place,
                 {std::string(info.name), "", FlagType::kOwn,
                  "Of " + std::string(collective.name()) + " alone", "VALUE", OwnSummary(info)});
  }
  return flags;
}

const Flag* FindFlag(const std::vector<Flag>& flags, std::string_view name) {
  const auto found =
      std::find_if(flags.begin(), flags.end(), [&](const Flag& flag) { return flag.name == name; });
  return found == flags.end() ? nullptr : &*found;
}

}  // namespace mailbench
