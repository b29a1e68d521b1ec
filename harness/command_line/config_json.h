// A RunConfig as text: for the report, to compare ranks, and to tell whether a report can be
// resumed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/command_line/run_config.h"

namespace mailbench {

// Everything that determines the run, as one line of JSON: long flag names in ascending order, the
// collective's own among them, sizes in bytes. Two configs are equal exactly when these texts are.
// What was not asked for is left out (algorithm, json, trace, list, dry-run), and what does not
// go with it (sizes where there are none; mode and l2 of a stress), so that the text of a run is
// itself a config file for the same run.
std::string CanonicalJson(const RunConfig& config);

// The same without what becomes of the results (json, trace, force, resume, list, dry-run): as a
// config file it repeats the run, wherever its report goes.
std::string ReportedJson(const RunConfig& config);

// The same without what no measured value depends on: json, trace, force, resume, list, dry-run,
// timeout.
std::string MeasuredJson(const RunConfig& config);

// FNV-1a, 64 bits.
std::uint64_t HashText(std::string_view text);

// The first keys in which two texts of CanonicalJson differ, with both values: "seed: 1 against 2;
// iters: 20 against not given". "" when they are equal.
std::string DescribeDifference(const std::string& canonical_a, const std::string& canonical_b);

}  // namespace mailbench
