// Settings to a RunConfig: defaults, limits, and what excludes what.
#pragma once

#include "harness/collective/collective.h"
#include "harness/command_line/run_config.h"
#include "harness/command_line/settings.h"

namespace mailbench {

// Flags over the config file: a flag replaces the file's key, any size flag (all but the capacity)
// the file's whole size group.
Settings Merge(const Settings& file, const Settings& flags);

// Throws UsageError that names the setting and the value. Knows nothing of the machine: whether a
// transport can run is decided elsewhere.
RunConfig Resolve(const Settings& settings, const Collective& collective);

}  // namespace mailbench
