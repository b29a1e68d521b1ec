#include "src/protocol_checker/flags.h"

#include <algorithm>

#include "harness/build_facts.h"
#include "src/protocol_checker/limits.h"

namespace mailbench {
namespace {

constexpr const char* kWhat = "What is checked";
constexpr const char* kWorld = "The world that it lives in";
constexpr const char* kSearch = "Search";
constexpr const char* kOutput = "Output";
constexpr const char* kOther = "Other";

constexpr const char* kHead =
    "protocol_checker: looks for an interleaving that breaks a protocol, on worlds of ranks in "
    "this\n"
    "process, whose every step and every landing word it decides.\n\n"
    "Usage: protocol_checker --protocol LIST [FLAG]...\n";
constexpr const char* kFoot =
    "\nExit code: 0 no violation found; 1 an interrupt or any other failure; 2 usage; 5 a "
    "violation.\n";

std::string To(int most) { return std::to_string(most); }

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

}  // namespace

const std::vector<Flag>& CheckerFlags() {
  using enum FlagType;
  static const std::vector<Flag> flags = {
      {"protocol", "", kWordList, kWhat, "LIST", "some of --list"},
      {"ranks", "", kWordList, kWhat, "LIST", "each 1 to " + To(kMostRanks) + " (default: 2)"},
      {"sizes", "", kWordList, kWhat, "LIST", "packs a rank, call by call (default: 1,2,1,2)"},
      {"threads", "", kCount, kWhat, "N",
       "threads a CTA, 1 to " + To(kMostThreads) + " (default: 1)"},
      {"publish", "", kWord, kWhat, "HOW", "multicast or unicast (default: multicast)"},
      {"streams", "", kCount, kWhat, "N", "that the calls of a rank take turns on (default: 1)"},
      {"producer", "", kSwitch, kWhat, "",
       "a kernel before each call writes its input; lag counts it as a launch"},
      {"replays", "", kCount, kWhat, "N",
       "of the calls, recorded once as a CUDA graph, 1 to " + To(kMostReplays) +
           "; on one stream (default: 1)"},

      {"fabric", "", kWordList, kWorld, "LIST",
       "in-order (links), no-store-buffers, lag=K (plain stores to mailboxes\n"
       "land K launches late); without the flag words land in any order"},
      {"pdl", "", kWord, kWorld, "on|off", "programmatic dependent launch (default: on)"},
      {"resident-ctas", "", kCount, kWorld, "N", "of a rank at most; 0: no limit (default: 0)"},
      {"shared-gpu", "", kSwitch, kWorld, "", "all ranks share that limit"},

      {"strategy", "", kWordList, kSearch, "LIST",
       "biased, pct, uniform, exhaustive (default: biased,pct,exhaustive)"},
      {"delay-bound", "", kCount, kSearch, "N", "of exhaustive, 0 to 6 (default: 2)"},
      {"schedules", "", kCount, kSearch, "N",
       "of each strategy at most, for each protocol and number of ranks"},
      {"seconds", "", kSeconds, kSearch, "S",
       "for each strategy at most, for each protocol and number of ranks:\n"
       "three strategies take three times as long (default: 3)"},
      {"seed", "", kCount, kSearch, "N", "of the random strategies (default: 1)"},
      {"jobs", "", kCount, kSearch, "N", "workers (default: one a core)"},

      {"json", "", kPath, kOutput, "FILE", "write the report there"},
      {"force", "", kSwitch, kOutput, "", "replace files that exist"},
      {"save-replay", "", kPath, kOutput, "FILE", "save the schedule of a violation there"},
      {"trace", "", kPath, kOutput, "FILE", "write everything that happens in it there"},

      {"replay", "", kPath, kOther, "FILE",
       "run a saved schedule again; only --trace goes with it"},
      {"list", "", kSwitch, kOther, "", "print the protocols"},
      {"version", "", kSwitch, kOther, "", "print the version"},
      {"help", "h", kSwitch, kOther, "", "print this text"},
  };
  return flags;
}

std::string CheckerHelp() {
  constexpr std::size_t kColumn = 24;
  std::string text = kHead;
  std::string group;
  for (const Flag& flag : CheckerFlags()) {
    if (flag.group != group) text += "\n" + (group = flag.group) + ":\n";
    const std::string names = (flag.letter.empty() ? "" : "-" + flag.letter + ",") + "--" +
                              flag.name + (flag.placeholder.empty() ? "" : " ") + flag.placeholder;
    std::string summary = flag.summary;
    for (std::size_t at = 0; (at = summary.find('\n', at)) != std::string::npos; ++at) {
      summary.insert(at + 1, kColumn, ' ');
    }
    text += Padded("  " + names, kColumn) + summary + "\n";
  }
  return text + kFoot;
}

std::string CheckerVersion() {
  const BuildFacts facts = Build();
  return "mailbench " + facts.version + " (git " + facts.git + ", " + facts.compiler + ")\n";
}

std::string ModelList(const std::vector<Model>& models) {
  std::size_t width = 0;
  for (const Model& model : models) width = std::max(width, model.name.size() + 2);
  std::string text;
  for (const Model& model : models) text += Padded(model.name, width) + model.summary + "\n";
  return text;
}

}  // namespace mailbench
