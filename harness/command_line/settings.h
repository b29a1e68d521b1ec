// What the user set, as text: the common form of flags and config keys before any value is looked
// at.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mailbench {

struct Setting {
  std::string origin;              // how a message names it: --bytes, or FILE: key "bytes"
  std::vector<std::string> items;  // the items of a list, or the one value; never empty
};

// By the flag's long name without dashes. A switch that is on holds "true".
using Settings = std::map<std::string, Setting, std::less<>>;

}  // namespace mailbench
