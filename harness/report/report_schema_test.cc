// Reports as the writer makes them against the published schema, by the script that users have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/checked_report.h"
#include "harness/report/report.h"
#include "harness/report/report_json.h"

namespace mailbench::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

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
      R"([{"op": "remove", "path": "/points/1/trace/last_by_us"}])",
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
  EXPECT_EQ(Check(directory.File("none.json")).exit_code, 2);
}

}  // namespace
}  // namespace mailbench::test
