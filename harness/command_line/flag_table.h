// The one list of flags. Command line, config file and --help are all read from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/collective.h"

namespace mailbench {

// What a value may look like, in text and in JSON.
enum class FlagType {
  kSize,       // bytes, K, M, G; JSON number or string
  kSizeList,   // the same, several
  kCount,      // a whole number
  kSeconds,    // a decimal number
  kZeroOrOne,  // 0 or 1; JSON also true or false
  kWord,       // one of a few words
  kWordList,   // several of a few words
  kPath,       // a file's path
  kOwn,        // the collective's own: its text is checked against the accepted values
  kSwitch,     // no value; JSON true or false
};
bool IsList(FlagType type);

struct Flag {
  std::string name;    // long name without dashes; also the config's key
  std::string letter;  // short name without the dash; "" when there is none
  FlagType type;
  std::string group;        // heading in --help
  std::string placeholder;  // of the value in --help; "" for a switch
  std::string summary;      // for --help, with default and unit
  bool config_key = true;   // whether a config file may hold it
};

// The flags of every binary and the collective's own, in the order of --help.
// Throws std::logic_error when the collective declares a flag that exists already.
std::vector<Flag> FlagsOf(const Collective& collective);

// Why a flag of every binary says nothing to this collective; "" when it does.
std::string ReasonAgainst(std::string_view flag, const Collective& collective);

// nullptr when there is no such flag.
const Flag* FindFlag(const std::vector<Flag>& flags, std::string_view name);

}  // namespace mailbench
