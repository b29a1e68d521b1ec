// Whether scripts/check_report compares the figures of a report with each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "harness/report/checked_report.h"

namespace mailbench::test {
namespace {

using nlohmann::json;

struct Case {
  const char* patch;
  const char* error;
};

// `valid` is a report that is right; each patch breaks it.
void ExpectErrors(std::span<const Case> cases, const json& valid) {
  const TestDirectory directory;
  WriteText(directory.File("valid.json"), valid.dump());
  const Verdict right = Check(directory.File("valid.json"));
  EXPECT_EQ(right.exit_code, 0) << right.output;
  std::string paths;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string path = directory.File(std::to_string(i) + ".json");
    WriteText(path, valid.patch(json::parse(cases[i].patch)).dump());
    paths += path + ' ';
  }
  const Verdict verdict = Check(paths);
  EXPECT_EQ(verdict.exit_code, 1);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(Says(verdict, directory.File(std::to_string(i) + ".json"), cases[i].error))
        << cases[i].patch << verdict.output;
  }
}

// What no schema can say. Each patch breaks one of it in a report that is right.
TEST(CheckReportTest, FiguresAreThoseOfTheSamples) {
  const Case kCases[] = {
      {R"([{"op": "replace", "path": "/points/0/latency_us/p90", "value": 1990}])",
       "p90 is above p99"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/p50", "value": 1}])",
       "min is above p50"},
      {R"([{"op": "replace", "path": "/points/0/latency_us/max", "value": 1990}])",
       "p999 is above max"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/max", "value": 2}])",
       "p50 is above max"},
      {R"([{"op": "replace", "path": "/points/0/latency_us/mean", "value": 9999}])",
       "mean lies outside"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/mean", "value": 2.6}])",
       "mean is not that of the samples, 2.5"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/p50", "value": 2.6}])",
       "p50 is not that of the samples, 2.5"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/min", "value": 1.25}])",
       "min is not that of the samples, 1.5"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/p50_interval/low", "value": 2.75}])",
       "p50_interval does not hold p50"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/samples/1", "value": 7}])",
       "samples: one lies outside"},
      {R"([{"op": "remove", "path": "/points/0/latency_us/samples/1"}])",
       "samples: not as many as count"},
      {R"([{"op": "replace", "path": "/points/1/per_rank/2/rank", "value": 1}])",
       "per_rank: not each rank once"},
      {R"([{"op": "replace", "path": "/points/1/per_rank/3/min", "value": 1.9}])",
       "min, p50 and max of rank 3"},
      {R"([{"op": "replace", "path": "/points/1/per_rank/3/longest", "value": 1}])",
       "were the longest are not latency_us.count"},
      {R"([{"op": "replace", "path": "/points/1/straggler", "value": 4}])",
       "straggler: there is no such rank"},
      {R"([{"op": "replace", "path": "/points/1/straggler", "value": 2}])",
       "straggler is not trace.last_rank"},
      {R"([{"op": "replace", "path": "/points/1/straggler_share", "value": 0.8}])",
       "straggler_share is not trace.last_calls"},
      {R"([{"op": "replace", "path": "/points/1/trace/last_by_us", "value": 0.25}])",
       "trace.last_by_us tell otherwise"},
      {R"([{"op": "replace", "path": "/points/1/trace/last_by_us", "value": 0.125},
           {"op": "replace", "path": "/points/1/trace/clock_step_us", "value": 0}])",
       "trace.last_by_us tell otherwise"},
      {R"([{"op": "replace", "path": "/points/1/straggler", "value": null},
           {"op": "replace", "path": "/points/1/straggler_share", "value": null},
           {"op": "replace", "path": "/points/1/straggler_unknown", "value": "why"}])",
       "trace.last_by_us tell otherwise"},
      {R"([{"op": "replace", "path": "/points/1/trace/last_by_us", "value": null}])",
       "one of last_rank and last_by_us is null"},
      {R"([{"op": "replace", "path": "/points/1/trace/last_by_rank/1", "value": 4}])",
       "last_by_rank and undecided_calls do not add up"},
      {R"([{"op": "replace", "path": "/points/1/trace/last_by_rank/1", "value": 16}])",
       "last_calls is not the most of last_by_rank"},
      {R"([{"op": "remove", "path": "/points/1/trace/last_by_rank/0"}])",
       "last_by_rank: not one for each rank"},
      {R"([{"op": "replace", "path": "/points/1/floor_ratio", "value": 2}])",
       "floor_ratio is not latency_us.p50 / "},
      {R"([{"op": "replace", "path": "/points/1/floor_us/call", "value": 1.25}])",
       "floor_us.call is not that of the mode"},
      {R"([{"op": "replace", "path": "/points/1/mode", "value": "eager"}])",
       "floor_us.call is not that of the mode"},
      {R"([{"op": "replace", "path": "/points/1/check/compared", "value": 0}])",
       "nothing was compared"},
      {R"([{"op": "replace", "path": "/points/1/check/first", "value": "rank 1"}])",
       "a story without a wrong word"},
      {R"([{"op": "replace", "path": "/points/1/ranks", "value": 3}])",
       "ranks are not those of environment"},
      {R"([{"op": "replace", "path": "/points/1/collective", "value": "other"}])",
       "collective is not the report's"},
      {R"([{"op": "copy", "from": "/points/0", "path": "/points/-"}])", "it is there twice"},
      {R"([{"op": "replace", "path": "/run/status", "value": "wrong"}])", "wrong, and nothing is"},
      {R"([{"op": "replace", "path": "/run/status", "value": "failed"},
           {"op": "replace", "path": "/points/1/check/mismatches", "value": 641}])",
       "more mismatches than words compared"},
      {R"([{"op": "replace", "path": "/run/status", "value": "failed"},
           {"op": "replace", "path": "/points/1/check/leftover", "value": 1281}])",
       "more words left over than audited"},
      {R"([{"op": "replace", "path": "/run/status", "value": "failed"},
           {"op": "replace", "path": "/points/1/check/mismatches", "value": 1}])",
       "a wrong word without its story"},
      {R"([{"op": "replace", "path": "/run/status", "value": "failed"},
           {"op": "replace", "path": "/stress/0/mismatches", "value": 2},
           {"op": "replace", "path": "/stress/0/wrong_calls", "value": 3}])",
       "more wrong calls than"},
      {R"([{"op": "replace", "path": "/run/status", "value": "failed"},
           {"op": "replace", "path": "/stress/0/mismatches", "value": 2}])",
       "wrong words without wrong calls"},
  };
  ExpectErrors(kCases, json::parse(SampleReport(RunStatus::kPassed)));
}

TEST(CheckReportTest, FiguresOfVersion2AreToo) {
  const Case kCases[] = {
      {R"([{"op": "replace", "path": "/points/1/latency_us/p90", "value": 3.49}])",
       "p90 is above p99"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/p90", "value": 3.2}])",
       "p90 is not that of the samples, 3.3"},
      {R"([{"op": "replace", "path": "/points/1/per_rank/3/last", "value": 1}])",
       "were the longest are not latency_us.count"},
      {R"([{"op": "replace", "path": "/points/1/straggler_share", "value": 0.5}])",
       "straggler_share is not the straggler's last"},
      {R"([{"op": "replace", "path": "/points/1/floor_ratio", "value": 2.01}])",
       "floor_ratio is not latency_us.p50 / "},
      {R"([{"op": "replace", "path": "/points/1/floor_ratio", "value": null}])",
       "floor_ratio is not latency_us.p50 / "},
      {R"([{"op": "replace", "path": "/points/0/floor_ratio", "value": 2}])",
       "floor_ratio without a floor"},
  };
  ExpectErrors(kCases, AsVersion2(SampleReport(RunStatus::kPassed)));
}

TEST(CheckReportTest, SaysInOneLineWhatIsNoReport) {
  const TestDirectory directory;
  WriteSampleJournal(directory.File("two_points"), 2);
  WriteSampleJournal(directory.File("no_point"), 0);
  const struct {
    std::string name;
    std::string text;  // "": there is no such file, or there is
    std::string error;
  } kCases[] = {
      {"two_points.journal", "", "not a report but the journal of a run that has not ended"},
      {"no_point.journal", "", "not a report but the journal of a run that has not ended"},
      {"trace.json", R"({"traceEvents": []})", "not a report but a trace"},
      {"none.json", "", "cannot be read: No such file or directory"},
      {"config.json", R"({"iters": 5})", "not a report of mailbench: it has no schema_version"},
      {"list.json", "[1]", "not a report of mailbench: it has no schema_version"},
      {"cut.json", SampleReport(RunStatus::kPassed).substr(0, 5000), "it is not JSON: "},
      {"lines.json", "{}\n{}\n", "it is not JSON: Extra data"},
      {"bytes.json", "\xff\xfe", "it is no text in UTF-8"},
      {"deep.json", std::string(100'000, '['), "it is nested too deep"},
      {".", "", "cannot be read: Is a directory"},
  };
  std::string paths;
  for (const auto& c : kCases) {
    const std::string path = directory.File(c.name);
    if (!c.text.empty()) WriteText(path, c.text);
    const Verdict verdict = Check(path);
    EXPECT_EQ(verdict.exit_code, 2) << path;
    EXPECT_TRUE(Says(verdict, path, c.error)) << verdict.output;
    EXPECT_EQ(std::count(verdict.output.begin(), verdict.output.end(), '\n'), 1) << verdict.output;
    paths += path + ' ';
  }
  WriteText(directory.File("valid"), SampleReport(RunStatus::kPassed));
  EXPECT_EQ(Check(paths + directory.File("valid")).exit_code, 2);
  json report = json::parse(SampleReport(RunStatus::kPassed));
  report.erase("stress");
  WriteText(directory.File("invalid"), report.dump());
  const Verdict verdict = Check(paths + directory.File("invalid"));
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_TRUE(Says(verdict, directory.File("invalid"), "'stress' is a required property"));
}

TEST(CheckReportTest, AVersionThatIsNotKnownIsAllThatIsSaid) {
  const TestDirectory directory;
  const std::string path = directory.File("later.json");
  json report = json::parse(SampleReport(RunStatus::kPassed));
  report["schema_version"] = 9;
  report["points"][0].erase("l2");
  WriteText(path, report.dump());
  const Verdict verdict = Check(path);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.output, path + ": schema_version is 9, and not one of [2, 3]\n");
}

}  // namespace
}  // namespace mailbench::test
