// What a report says about the run as a whole: what is known before the first point, and how the
// run ended.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "harness/build_facts.h"
#include "harness/collective/shape.h"
#include "harness/report/environment.h"
#include "harness/run_status.h"

namespace mailbench {

// Raised whenever a reader of older reports would misread a new one.
inline constexpr int kReportSchemaVersion = 3;

// An algorithm that was not run, or not at one size, and why.
struct Skipped {
  std::string algorithm;
  std::optional<Shape> shape;  // nothing: at no size
  std::string reason;
};

// The same for people: algorithms that one reason keeps from running are one entry, "a, b".
std::vector<Skipped> ByReason(const std::vector<Skipped>& skipped);

// What makes the points of two runs comparable: a report may only be resumed by an equal run.
struct RunIdentity {
  std::string collective;
  int ranks = 0;
  BuildFacts build;
  std::string config;           // ReportedJson: the resolved config
  std::string measured_config;  // MeasuredJson: of its keys those that change what is measured
};

// Everything that is known before the first point.
struct RunFacts {
  RunIdentity identity;
  std::string start;  // TimestampUtc()
  Environment environment;
  std::vector<Skipped> skipped;
};

struct RunError {
  std::optional<int> rank;  // at fault, or that it was found on, where one can be named
  std::string what;
};

struct RunEnding {
  RunStatus status = RunStatus::kFailed;
  std::string reason;  // one sentence; empty when there is nothing to add to the status
  std::vector<RunError> errors;
  std::string end;  // TimestampUtc(); empty: when the report is assembled
};

// "2025-01-31T23:59:59.123Z".
std::string TimestampUtc(
    std::chrono::system_clock::time_point time = std::chrono::system_clock::now());

}  // namespace mailbench
