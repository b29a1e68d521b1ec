// Amounts as a reader wants them: rounded, with a unit.
#pragma once

#include <cstddef>
#include <string>

namespace mailbench {

// "512 B", "1.5 KiB", "64.0 MiB": binary units, as those of flags.
std::string FormatBytes(std::size_t bytes);

// "0.3 s", "12 s", "3 min 20 s", "2 h 05 min". Less than 0 counts as 0.
std::string FormatDuration(double seconds);

}  // namespace mailbench
