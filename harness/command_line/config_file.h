// A config file, split into settings. Types are checked here, values are not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/flag_table.h"
#include "harness/command_line/settings.h"

namespace mailbench {

constexpr std::size_t kLargestConfigFile = std::size_t{1} << 20;

// One JSON object: long flag names, lists as arrays or as their one item, sizes as numbers or
// strings, switches as booleans. `origin` names the text in messages. Throws UsageError for what is
// no JSON, and by name for an unknown key, a duplicate key and a wrong type. Nothing of a config is
// nested deeper than a list, so the first deeper value is refused where it stands.
Settings ParseConfigText(std::string_view text, const std::string& origin,
                         const std::vector<Flag>& flags);

// Throws UsageError when the path is not a regular file that can be read, or is above 1 MiB.
Settings ReadConfigFile(const std::string& path, const std::vector<Flag>& flags);

}  // namespace mailbench
