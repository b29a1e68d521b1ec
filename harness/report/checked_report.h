// For tests: reports as the writer makes them, judged by the script that users have.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/report/report_test_data.h"

namespace mailbench::test {

struct Verdict {
  int exit_code = -1;
  std::string output;
};

// Of scripts/check_report; `paths` are those of the test's own files.
Verdict Check(const std::string& paths);

// Whether one line is about the file and holds `error`.
bool Says(const Verdict& verdict, const std::string& path, const std::string& error);

// Of a point of 2000 samples, unchecked, one of three, and a stress; what is wrong where status
// says so. Its figures are those of its samples.
std::string SampleReport(RunStatus status, const RunFacts& facts = SampleFacts());

// As a build wrote it whose reports were of version 2.
nlohmann::json AsVersion2(const std::string& text);

}  // namespace mailbench::test
