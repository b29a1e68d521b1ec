// The sizes of a sweep.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/command_line/settings.h"

namespace mailbench {

// The settings that make up the size group.
constexpr const char* kSizeGroup[] = {"min-bytes", "max-bytes", "step-factor", "step-bytes",
                                      "bytes"};

// Ascending sizes in bytes a rank: those listed, or from min-bytes to max-bytes in steps. Throws
// UsageError for sizes that exclude each other, an empty sweep and one of more than 4096 sizes.
std::vector<std::int64_t> SweepSizes(const Settings& settings);

}  // namespace mailbench
