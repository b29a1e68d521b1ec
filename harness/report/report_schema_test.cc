// Reports as the writer makes them against the published schema, by the script that users have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/measure/statistics.h"
#include "harness/report/report.h"
#include "harness/report/report_json.h"
#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

struct Verdict {
  int exit_code = -1;
  std::string output;
};

// Of scripts/check_report; `paths` are those of the test's own files.
Verdict Check(const std::string& paths) {
  const std::string command = std::string("python3 '") + MAILBENCH_CHECK_REPORT + "' " + paths;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Verdict verdict;
  std::array<char, 4096> text;
  for (std::size_t size = 0; (size = fread(text.data(), 1, text.size(), pipe)) > 0;) {
    verdict.output.append(text.data(), size);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) verdict.exit_code = WEXITSTATUS(status);
  return verdict;
}

// Whether one line is about the file and holds `error`.
bool Says(const Verdict& verdict, const std::string& path, const std::string& error) {
  std::istringstream lines(verdict.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(path + ": ") && line.find(error) != std::string::npos) return true;
  }
  return false;
}

// A point whose figures are those of its samples.
PointRecord MeasuredPoint(std::int64_t bytes, int samples = 3) {
  PointRecord point = SamplePoint(bytes, samples);
  point.latency_us = Summarize(point.samples_us);
  point.p50_interval_us = IntervalOfMedian(point.samples_us);
  point.per_rank[2].longest = samples - 1;
  return point;
}

std::string SampleReport(RunStatus status, const RunFacts& facts = SampleFacts()) {
  PointRecord unchecked = MeasuredPoint(16, 2000);
  unchecked.checked = false;
  PointRecord wrong = MeasuredPoint(32);
  wrong.floor = Floor{.empty_kernel = {0.5}, .hop = FloorPart{0.25}, .publish_to_all = {0.75}};
  wrong.floor_call_us = 1.25;
  wrong.busbw_gb_per_s = 1 / 0.0;
  wrong.kernels = {{"Kernel", 2}};
  wrong.key.mode = "isolated";
  wrong.key.l2 = "cold";
  wrong.l2_evicted = "input, output and mailbox";
  wrong.warmup = {15, false, {}};
  wrong.floor = Floor{.hop = FloorPart{1, {1, 1, 0.96}}};
  wrong.floor_call_us = 1.5;
  wrong.trace = TraceSummary{.calls = 20};
  if (status == RunStatus::kPassed) {
    wrong.trace->last_rank = 3;
    wrong.trace->last_calls = 15;
  }
  StressRecord stress = SampleStress();
  if (status == RunStatus::kWrong) {
    stress.wrong_calls = 2;
    stress.check.mismatches = 5;
    stress.check.first = "rank 1, call 4: word 0";
    stress.wrong = {{4, 1, 0, 2, 3, 7, {1, 2, 3, 0xffffffffu}, "which no recent call sent"},
                    {5, 0, 1, 0, 0, 7, {8, 2, 3, 4}, ""}};
    wrong.check.mismatches = 1;
    wrong.check.first = "rank 1, call 2, word 3: expected 0x1, saw 0x2";
  }
  RunEnding ending = {status, "why", {}, ""};
  if (status != RunStatus::kPassed) ending.errors = {{2, "rank 2 is gone"}, {{}, "disk full"}};
  return AssembleReport({HeaderJson(facts, 1),
                         {PointJson(unchecked), PointJson(wrong)},
                         /*torn=*/false,
                         {StressJson(stress)}},
                        ending);
}

TEST(ReportSchemaTest, ReportsOfEveryStatusAreValid) {
  const TestDirectory directory;
  std::string paths;
  for (const RunStatus status :
       {RunStatus::kPassed, RunStatus::kWrong, RunStatus::kHung, RunStatus::kInterrupted,
        RunStatus::kRefused, RunStatus::kFailed}) {
    const std::string path = directory.File(ToString(status) + std::string(".json"));
    WriteText(path, SampleReport(status));
    paths += path + ' ';
  }
  const std::string gpu_path = directory.File("gpu.json");
  WriteText(gpu_path, SampleReport(RunStatus::kPassed, SampleGpuFacts()));
  paths += gpu_path + ' ';
  RunFacts real = SampleFacts();
  real.environment = GatherEnvironment({"a", "b"}, "host", {});
  real.identity.build = Build();
  WriteText(directory.File("real.json"), AssembleReport({HeaderJson(real, 0), {}}, {}));
  const Verdict verdict = Check(paths + directory.File("real.json"));
  EXPECT_EQ(verdict.exit_code, 0) << verdict.output
                                  << "2: jsonschema is missing, scripts/setup installs it";
}

// As a build wrote it whose reports were of version 2.
json AsVersion2(const std::string& text) {
  json report = json::parse(text);
  report["schema_version"] = 2;
  for (json& point : report["points"]) {
    for (const char* quantile : {"p90", "p99", "p999"}) point["latency_us"][quantile] = 3.5;
    point.erase("straggler_unknown");
    point["warmup"]["clock_mhz"] = 1980;
    point["straggler"] = 1;
    point["straggler_share"] = 0.25;
    for (const char* field : {"call", "steady", "isolated_call", "eager_call", "intervals"}) {
      if (point["floor_us"].is_object()) point["floor_us"].erase(field);
    }
    for (json& rank : point["per_rank"]) {
      rank["last"] = rank["longest"];
      for (const char* field : {"longest", "clock_before_mhz", "clock_after_mhz"}) {
        rank.erase(field);
      }
    }
  }
  return report;
}

// Every trouble that a mask can tell of, every state; and a report from before there were any.
TEST(ReportSchemaTest, EveryPlaceInAnNvlinkFabricIsValid) {
  const TestDirectory directory;
  std::string paths;
  const auto write = [&](const std::string& name, const std::string& text) {
    WriteText(directory.File(name), text);
    paths += directory.File(name) + ' ';
  };
  RunFacts facts = SampleGpuFacts();
  FabricPlace& place = facts.environment.gpus[0].place;
  for (const std::uint32_t mask : {0x155U, 0x2ffU, 0x3aaU, 0x4aaU, 0x5aaU, 0x6aaU, 0x7aaU, ~0U}) {
    place.health_mask = mask;
    write("mask" + std::to_string(mask), SampleReport(RunStatus::kPassed, facts));
  }
  for (int state = kFabricNotSupported; state <= kFabricCompleted + 1; ++state) {
    place.state = state;
    write("state" + std::to_string(state), SampleReport(RunStatus::kPassed, facts));
  }
  place = {};
  write("nothing", SampleReport(RunStatus::kPassed, facts));
  json earlier = AsVersion2(SampleReport(RunStatus::kPassed, facts));
  for (json& gpu : earlier["environment"]["gpus"]) gpu.erase("nvlink_fabric");
  for (json& point : earlier["points"]) {
    point.erase("l2_evicted");
    point.erase("warmup");
  }
  write("earlier", earlier.dump());
  const Verdict verdict = Check(paths);
  EXPECT_EQ(verdict.exit_code, 0) << verdict.output;
}

TEST(ReportSchemaTest, PointsOfBuildsThatKnewOnlyMediansOfRanksAreValid) {
  json report = AsVersion2(SampleReport(RunStatus::kPassed));
  const TestDirectory directory;
  WriteText(directory.File("version2.json"), report.dump());
  for (json& point : report["points"]) {
    point.erase("straggler_share");
    point["latency_us"].erase("p50_interval");
    for (json& rank : point["per_rank"]) {
      for (const char* field : {"min", "max", "last"}) rank.erase(field);
    }
  }
  WriteText(directory.File("earlier.json"), report.dump());
  const Verdict verdict =
      Check(directory.File("earlier.json") + ' ' + directory.File("version2.json"));
  EXPECT_EQ(verdict.exit_code, 0) << verdict.output;
}

TEST(ReportSchemaTest, TheReportsThatAreKeptAreValid) {
  std::string paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MAILBENCH_RESULTS)) {
    const std::string path = entry.path().string();
    if (path.ends_with(".json") && !path.ends_with(".trace.json")) paths += "'" + path + "' ";
  }
  ASSERT_FALSE(paths.empty());
  const Verdict verdict = Check(paths);
  EXPECT_EQ(verdict.exit_code, 0) << verdict.output;
}

// What no schema can say. Each patch breaks one of it in a report that is right.
TEST(ReportSchemaTest, FiguresAreThoseOfTheSamples) {
  const TestDirectory directory;
  const struct {
    const char* patch;
    const char* error;
  } kCases[] = {
      {R"([{"op": "replace", "path": "/points/0/latency_us/p90", "value": 9999}])",
       "p90 is above p99"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/p50", "value": 1}])",
       "min is above p50"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/max", "value": 2}])",
       "p50 is above max"},
      {R"([{"op": "replace", "path": "/points/0/latency_us/mean", "value": 9999}])",
       "mean lies outside"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/mean", "value": 2.6}])",
       "mean is not that of the samples, 2.5"},
      {R"([{"op": "replace", "path": "/points/1/latency_us/p50", "value": 2.6}])",
       "p50 is not that of the samples, 2.5"},
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
       "longest does not add up"},
      {R"([{"op": "replace", "path": "/points/1/straggler", "value": 4}])",
       "straggler: there is no such rank"},
      {R"([{"op": "replace", "path": "/points/1/straggler", "value": 2}])",
       "straggler is not whom the trace names"},
      {R"([{"op": "replace", "path": "/points/1/floor_ratio", "value": 2.01}])",
       "floor_ratio is not latency_us.p50 / the floor"},
      {R"([{"op": "replace", "path": "/points/1/floor_ratio", "value": null}])",
       "floor_ratio is not latency_us.p50 / the floor"},
      {R"([{"op": "replace", "path": "/points/0/floor_ratio", "value": 2}])",
       "floor_ratio without a floor"},
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
  const json valid = json::parse(SampleReport(RunStatus::kPassed));
  std::string paths;
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    const std::string path = directory.File(std::to_string(i) + ".json");
    WriteText(path, valid.patch(json::parse(kCases[i].patch)).dump());
    paths += path + ' ';
  }
  const Verdict verdict = Check(paths);
  EXPECT_EQ(verdict.exit_code, 1);
  for (std::size_t i = 0; i < std::size(kCases); ++i) {
    EXPECT_TRUE(Says(verdict, directory.File(std::to_string(i) + ".json"), kCases[i].error))
        << kCases[i].patch << verdict.output;
  }
}

TEST(ReportSchemaTest, TheSchemaIsClosedAndComplete) {
  const TestDirectory directory;
  const json valid = json::parse(SampleReport(RunStatus::kPassed, SampleGpuFacts()));
  WriteText(directory.File("valid.json"), valid.dump());
  ASSERT_EQ(Check(directory.File("valid.json")).exit_code, 0);
  // Each removes a field, adds one or gives one a wrong value.
  const char* const patches[] = {
      R"([{"op": "remove", "path": "/points/0/check"}])",
      R"([{"op": "replace", "path": "/points/1/l2", "value": "warm"}])",
      R"([{"op": "replace", "path": "/points/1/l2_evicted", "value": ""}])",
      R"([{"op": "remove", "path": "/points/1/warmup/steady"}])",
      R"([{"op": "add", "path": "/points/1/warmup/extra", "value": 1}])",
      R"([{"op": "add", "path": "/points/1/warmup/clock_mhz", "value": 1980}])",
      R"([{"op": "remove", "path": "/points/1/per_rank/0/clock_after_mhz"}])",
      R"([{"op": "remove", "path": "/points/1/floor_us/call"}])",
      R"([{"op": "remove", "path": "/points/1/floor_us/intervals"}])",
      R"([{"op": "remove", "path": "/points/1/floor_us/intervals/hop/high"}])",
      R"([{"op": "add", "path": "/points/1/floor_us/intervals/extra", "value": null}])",
      R"([{"op": "replace", "path": "/points/1/floor_us/steady", "value": null}])",
      R"([{"op": "replace", "path": "/points/1/floor_us/call", "value": null}])",
      R"([{"op": "replace", "path": "/points/0/floor_ratio", "value": 1}])",
      R"([{"op": "replace", "path": "/points/1/per_rank/0/clock_before_mhz", "value": 0.5}])",
      R"([{"op": "replace", "path": "/points/1/warmup/samples", "value": -1}])",
      R"([{"op": "remove", "path": "/environment/cores"}])",
      R"([{"op": "add", "path": "/extra", "value": 1}])",
      R"([{"op": "add", "path": "/run/extra", "value": 1}])",
      R"([{"op": "add", "path": "/points/0/extra", "value": 1}])",
      R"([{"op": "add", "path": "/points/0/latency_us/extra", "value": 1}])",
      R"([{"op": "add", "path": "/environment/variables/HOME", "value": "x"}])",
      R"([{"op": "add", "path": "/environment/variables/CUDA_LAUNCH_BLOCKING_X", "value": "x"}])",
      R"([{"op": "remove", "path": "/environment/nccl_refusal"}])",
      R"([{"op": "remove", "path": "/environment/gpus/0/mps"}])",
      R"([{"op": "replace", "path": "/environment/gpus/0/ranks", "value": []}])",
      R"([{"op": "add", "path": "/environment/gpus/0/extra", "value": 1}])",
      R"([{"op": "remove", "path": "/environment/gpus/0/nvlink_fabric/not_healthy"}])",
      R"([{"op": "add", "path": "/environment/gpus/0/nvlink_fabric/extra", "value": 1}])",
      R"([{"op": "replace", "path": "/environment/gpus/0/nvlink_fabric/state", "value": "3"}])",
      R"([{"op": "replace", "path": "/environment/gpus/0/nvlink_fabric/cluster", "value": "0"}])",
      R"([{"op": "replace", "path": "/environment/gpus/0/nvlink_fabric/health_mask", "value": 426}])",
      R"([{"op": "add", "path": "/environment/gpus/0/nvlink_fabric/not_healthy/-", "value": "bad"}])",
      R"([{"op": "replace", "path": "/environment/cuda/runtime", "value": 13000}])",
      R"([{"op": "remove", "path": "/skipped/0/shape"}])",
      R"([{"op": "replace", "path": "/skipped/1/shape", "value": {}}])",
      R"([{"op": "remove", "path": "/points/0/kernels"}])",
      R"([{"op": "replace", "path": "/points/1/kernels/0/count", "value": 0}])",
      R"([{"op": "replace", "path": "/schema_version", "value": 1}])",
      R"([{"op": "replace", "path": "/run/status", "value": "good"}])",
      R"([{"op": "replace", "path": "/run/end", "value": "2025-01-01 00:00:00"}])",
      R"([{"op": "replace", "path": "/run/resumed_points", "value": 3}])",
      R"([{"op": "replace", "path": "/schema_version", "value": 2}])",
      R"([{"op": "replace", "path": "/points/0/latency_us/p50", "value": null}])",
      R"([{"op": "replace", "path": "/points/0/latency_us/p999", "value": null}])",
      R"([{"op": "replace", "path": "/points/1/latency_us/p90", "value": 3}])",
      R"([{"op": "replace", "path": "/points/1/latency_us/p99", "value": 3}])",
      R"([{"op": "replace", "path": "/points/1/latency_us/p999", "value": 3}])",
      R"([{"op": "replace", "path": "/points/1/check/mismatches", "value": 1}])",
      R"([{"op": "remove", "path": "/points/0/latency_us/p50_interval"}])",
      R"([{"op": "remove", "path": "/points/0/latency_us/p50_interval/confidence"}])",
      R"([{"op": "add", "path": "/points/0/latency_us/p50_interval/extra", "value": 1}])",
      R"([{"op": "replace", "path": "/points/0/latency_us/p50_interval/confidence", "value": 95}])",
      R"([{"op": "remove", "path": "/points/1/per_rank/2/longest"}])",
      R"([{"op": "add", "path": "/points/1/per_rank/2/last", "value": 1}])",
      R"([{"op": "remove", "path": "/points/1/per_rank/2/max"}])",
      R"([{"op": "replace", "path": "/points/1/per_rank/2/longest", "value": 0.5}])",
      R"([{"op": "remove", "path": "/points/0/straggler_share"}])",
      R"([{"op": "replace", "path": "/points/0/straggler_unknown", "value": null}])",
      R"([{"op": "replace", "path": "/points/0/straggler_share", "value": 0.75}])",
      R"([{"op": "replace", "path": "/points/0/straggler", "value": 1}])",
      R"([{"op": "replace", "path": "/points/1/straggler", "value": null}])",
      R"([{"op": "replace", "path": "/points/1/straggler_share", "value": 1.5}])",
      R"([{"op": "replace", "path": "/points/1/straggler_share", "value": 0.5}])",
      R"([{"op": "replace", "path": "/points/1/trace", "value": null}])",
      R"([{"op": "copy", "from": "/points/0", "path": "/points/-"}])",
      R"([{"op": "remove", "path": "/stress/0/seed"}])",
      R"([{"op": "remove", "path": "/stress/0/wrong_words"}])",
      R"([{"op": "remove", "path": "/stress/0/bare_us"}])",
      R"([{"op": "remove", "path": "/stress/0/verified_us"}])",
      R"([{"op": "add", "path": "/stress/0/extra", "value": 1}])",
      R"([{"op": "replace", "path": "/stress/0/finished", "value": false}])",
      R"([{"op": "replace", "path": "/stress/0/leftover", "value": 1}])",
      R"([{"op": "replace", "path": "/stress/0/calls", "value": 999}])",
      R"([{"op": "replace", "path": "/stress/0/wrong_calls", "value": 1}])",
      R"([{"op": "add", "path": "/errors/-", "value": {"rank": 0, "what": "bad"}}])",
  };
  std::vector<std::string> bad;
  for (const char* patch : patches) bad.push_back(valid.patch(json::parse(patch)).dump());
  bad.push_back(R"({"errors":[],)" + valid.dump().substr(1));  // a key twice
  bad.push_back(valid.dump());
  bad.back().replace(bad.back().find("2.25"), 4, "NaN");

  // The exit code speaks for all of them: one valid file among them does not hide the others.
  std::string paths = directory.File("valid.json");
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const std::string path = directory.File(std::to_string(i) + ".json");
    WriteText(path, bad[i]);
    paths += ' ' + path;
  }
  const Verdict verdict = Check(paths);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.output, HasSubstr("/valid.json: valid\n"));
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const std::string path = directory.File(std::to_string(i) + ".json");
    EXPECT_THAT(verdict.output, HasSubstr(path + ": ")) << bad[i];
    EXPECT_THAT(verdict.output, Not(HasSubstr(path + ": valid\n"))) << bad[i];
  }
  EXPECT_EQ(Check(directory.File("none.json")).exit_code, 1);
}

}  // namespace
}  // namespace mailbench::test
