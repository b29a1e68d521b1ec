#include "harness/command_line/command_line.h"

#include <vector>

#include "harness/build_facts.h"
#include "harness/command_line/config_file.h"
#include "harness/command_line/flag_table.h"
#include "harness/command_line/read_flags.h"
#include "harness/command_line/resolve.h"

namespace mailbench {
namespace {

std::string VersionText() {
  const BuildFacts facts = Build();
  return "mailbench " + facts.version + " (git " + facts.git + ", " + facts.compiler + ", " +
         (facts.cuda.empty() ? "no GPU code" : "CUDA " + facts.cuda) + ")\n";
}

}  // namespace

CommandLine ParseCommandLine(std::span<const char* const> args, const Collective& collective) {
  const std::vector<Flag> flags = FlagsOf(collective);
  const Settings given = ReadFlags(args.empty() ? args : args.subspan(1), flags);

  CommandLine result;
  if (given.contains("help")) {
    result.kind = CommandLine::Kind::kText;
    std::vector<Flag> useful = flags;
    std::erase_if(useful,
                  [&](const Flag& flag) { return !ReasonAgainst(flag.name, collective).empty(); });
    result.text = HelpText(collective.name(), collective.summary(), useful);
    return result;
  }
  if (given.contains("version")) {
    result.kind = CommandLine::Kind::kText;
    result.text = VersionText();
    return result;
  }
  Settings file;
  if (const auto config = given.find("config"); config != given.end()) {
    file = ReadConfigFile(config->second.items.front(), flags);
  }
  result.config = Resolve(Merge(file, given), collective);
  return result;
}

}  // namespace mailbench
