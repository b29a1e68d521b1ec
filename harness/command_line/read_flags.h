// The command line, split into settings. No value is looked at here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/flag_table.h"
#include "harness/command_line/settings.h"

namespace mailbench {

// `args` without the program's name. `--flag value`, `--flag=value`, `-f value`, `-fvalue`; lists
// are split at commas. Throws UsageError that names an unknown flag, a stray argument, a missing
// value, a value given to a switch and a flag given twice.
Settings ReadFlags(std::span<const char* const> args, const std::vector<Flag>& flags);

// The text of --help. `name` and `summary` are the binary's.
std::string HelpText(std::string_view name, std::string_view summary,
                     const std::vector<Flag>& flags);

}  // namespace mailbench
