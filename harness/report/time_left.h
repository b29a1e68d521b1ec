// How long work will still take. Pure functions.
#pragma once

#include <optional>

namespace mailbench {

// Work in parts, each of which was expected to take some time: what of it is done.
struct WorkDone {
  double expected_s = 0;          // of all parts
  double expected_done_s = 0;     // of the finished ones
  double taken_s = 0;             // that the finished ones took
  double current_expected_s = 0;  // of the part that is under way
  double current_taken_s = 0;     // so far
  // How much of the current part is done, 0 to 1; nothing where that is not known.
  std::optional<double> current_share;
};

// Seconds. Expects that what is left misses its expectations by the same factor as what is done:
// time taken over time expected. At first, when that says little, expectations count as they are:
// as if 2 % of the work had been done and had taken as long as expected. A part that takes longer
// than this says moves the factor as it does. Nothing where nothing was expected.
std::optional<double> TimeLeft(const WorkDone& work);

}  // namespace mailbench
