// The way from argv to a validated RunConfig.
#pragma once

#include <span>
#include <string>

#include "harness/collective/collective.h"
#include "harness/command_line/run_config.h"

namespace mailbench {

struct CommandLine {
  enum class Kind {
    kRun,   // `config` holds what to do
    kText,  // --help or --version: print `text`, exit 0
  };
  Kind kind = Kind::kRun;
  RunConfig config;
  std::string text;  // ends with a newline
};

// `args` is argv with the program's name in front. Reads the file of --config, and nothing else;
// prints nothing. Flags come before the file's keys, and both before the defaults.
// Throws UsageError with one line that names the flag or key and its value.
CommandLine ParseCommandLine(std::span<const char* const> args, const Collective& collective);

}  // namespace mailbench
