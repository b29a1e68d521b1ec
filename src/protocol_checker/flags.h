// The checker's flags and its help.
#pragma once

#include <string>
#include <vector>

#include "harness/command_line/flag_table.h"
#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

const std::vector<Flag>& CheckerFlags();
std::string CheckerHelp();
std::string CheckerVersion();
std::string ModelList(const std::vector<Model>& models);  // --list: a line each

}  // namespace mailbench
