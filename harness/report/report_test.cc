#include "harness/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "harness/error.h"
#include "harness/report/report_json.h"
#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TimestampTest, IsUtcWithMilliseconds) {
  using std::chrono::system_clock;
  EXPECT_EQ(TimestampUtc(system_clock::time_point(std::chrono::milliseconds(1738367999007))),
            "2025-01-31T23:59:59.007Z");
}

TEST(ReportTest, HoldsHeaderPointsAndEnding) {
  const JournalContents journal = {HeaderJson(SampleFacts(), 1),
                                   {PointJson(SamplePoint(16)), PointJson(SamplePoint(32))}};
  const json report = json::parse(AssembleReport(
      journal,
      {RunStatus::kHung, "rank 2 is gone", {{2, "no heartbeat"}}, "2025-02-01T00:00:00.000Z"}));
  EXPECT_EQ(report["schema_version"], 3);
  EXPECT_EQ(report["run"], json::parse(R"({"start": "2025-01-31T23:59:58.000Z",
      "resumed_points": 1, "end": "2025-02-01T00:00:00.000Z", "status": "hung",
      "reason": "rank 2 is gone"})"));
  EXPECT_EQ(report["config"]["bytes"], json::parse("[16, 32]"));
  EXPECT_EQ(report["limits"]["samples_per_point"], 1000);
  ASSERT_EQ(report["points"].size(), 2U);
  EXPECT_EQ(report["points"][1], json::parse(PointJson(SamplePoint(32))));
  EXPECT_EQ(report["errors"], json::parse(R"([{"rank": 2, "what": "no heartbeat"}])"));
}

TEST(ReportTest, HoldsTheGpusAndTheirSoftware) {
  const json header = json::parse(HeaderJson(SampleGpuFacts(), 0));
  const json& environment = header["environment"];
  ASSERT_EQ(environment["gpus"].size(), 2U);
  const json& gpu = environment["gpus"][1];
  EXPECT_EQ(gpu["uuid"], "GPU-b");
  EXPECT_EQ(gpu["ranks"], json::parse("[1, 3]"));
  EXPECT_EQ(gpu["sm_clock_max_mhz"], 1980);
  EXPECT_EQ(gpu["memory_clock_mhz"], nullptr);
  EXPECT_EQ(gpu["mps"], true);
  EXPECT_EQ(gpu["multicast"], false);
  EXPECT_EQ(environment["ranks_per_gpu"], 2);
  EXPECT_EQ(environment["cuda"], json::parse(R"({"runtime": "13.0", "driver": "13.1"})"));
  EXPECT_EQ(environment["nccl"],
            json::parse(R"({"version": "2.32.3", "path": "/usr/lib/libnccl.so.2"})"));
  EXPECT_EQ(environment["nccl_refusal"], nullptr);
  EXPECT_EQ(header["skipped"], json::parse(R"([
      {"algorithm": "nccl", "shape": null, "reason": "no GPU"},
      {"algorithm": "lamport", "shape": {"bytes": 1048576}, "reason": "its grids do not fit"}])"));
}

TEST(ReportTest, HoldsNoneOfThatOnTheHost) {
  RunFacts facts = SampleFacts();
  facts.environment.nccl_refusal = "there is no libnccl.so.2";
  const json environment = json::parse(HeaderJson(facts, 0))["environment"];
  EXPECT_EQ(environment["gpus"], json::array());
  EXPECT_EQ(environment["ranks_per_gpu"], nullptr);
  EXPECT_EQ(environment["cuda"], nullptr);
  EXPECT_EQ(environment["nccl"], nullptr);
  EXPECT_EQ(environment["nccl_refusal"], "there is no libnccl.so.2");
}

TEST(ReportTest, HoldsTheKernelsOfAPoint) {
  EXPECT_EQ(json::parse(PointJson(SamplePoint(16)))["kernels"], json::array());
  PointRecord point = SamplePoint(16);
  point.kernels = {{"LamportAllGather", 1}, {"Copy", 2}};
  EXPECT_EQ(json::parse(PointJson(point))["kernels"],
            json::parse(R"([{"name": "LamportAllGather", "count": 1},
                            {"name": "Copy", "count": 2}])"));
}

TEST(ReportTest, HoldsTheStepOfTheClock) {
  PointRecord point = SamplePoint(16);
  EXPECT_EQ(json::parse(PointJson(point))["latency_us"]["clock_step"], nullptr);
  point.clock_step_us = 0.032;
  EXPECT_EQ(json::parse(PointJson(point))["latency_us"]["clock_step"], 0.032);
}

TEST(ReportTest, HoldsTheFloorAndWhatACallIsComparedWith) {
  PointRecord point = SamplePoint(16);  // p50 2.25
  EXPECT_EQ(json::parse(PointJson(point))["floor_us"], nullptr);
  point.floor = Floor{.empty_kernel = {0.5, {0.25, 0.75, 0.96}},
                      .publish_to_all = {1, {1, 1.5, 0.96}},
                      .eager_call = FloorPart{4.5, {4, 5, 0.96}},
                      .steady = false};
  EXPECT_EQ(json::parse(PointJson(point))["floor_ratio"], nullptr);
  EXPECT_EQ(json::parse(PointJson(point))["floor_us"]["call"], nullptr);
  point.floor_call_us = point.floor->call_us(Mode::kGraph);
  EXPECT_EQ(json::parse(PointJson(point))["floor_ratio"], 1.5);
  EXPECT_EQ(json::parse(PointJson(point))["floor_us"], json::parse(R"({
      "call": 1.5, "steady": false, "empty_kernel": 0.5, "hop": null, "publish_to_all": 1.0,
      "isolated_call": null, "eager_call": 4.5, "intervals": {
        "empty_kernel": {"low": 0.25, "high": 0.75, "confidence": 0.96}, "hop": null,
        "publish_to_all": {"low": 1.0, "high": 1.5, "confidence": 0.96}, "isolated_call": null,
        "eager_call": {"low": 4.0, "high": 5.0, "confidence": 0.96}}})"));
  EXPECT_EQ(point.floor->call_us(Mode::kIsolated), std::nullopt);
  point.floor_call_us = point.floor->call_us(Mode::kEager);
  EXPECT_EQ(json::parse(PointJson(point))["floor_ratio"], 0.5);
}

TEST(ReportTest, TheStragglerIsWhomTheTraceNamesOrNull) {
  PointRecord point = SamplePoint(16);
  const auto fields = [&] {
    const json all = json::parse(PointJson(point));
    return json{all["straggler"], all["straggler_share"], all["straggler_unknown"]};
  };
  point.untraced = "why";
  EXPECT_EQ(fields(), json::parse(R"([null, null, "why"])"));
  point.trace = TraceSummary{.calls = 20, .last_rank = 3, .last_calls = 15, .last_by_us = 2};
  EXPECT_EQ(fields(), json::parse("[3, 0.75, null]"));
  EXPECT_EQ(json::parse(PointJson(point))["trace"]["last_by_us"], 2);
  point.latency_us.p50 = 40;
  EXPECT_EQ(fields(), json::parse(R"([null, null, "rank 3 was last in 75 % of the traced calls, )"
                                  R"(but by 2.000 us only: 5 % of p50 are 2.000 us"])"));
  point.trace->last_rank = -1;
  EXPECT_EQ(json::parse(PointJson(point))["trace"]["last_by_us"], nullptr);
  point.trace->last_rank = 3;
  point.trace->last_calls = 10;
  EXPECT_EQ(fields(), json::parse(R"([null, null,
      "no rank was last in more than half of the traced calls"])"));
}

TEST(ReportTest, SaysThatALineWasDropped) {
  const JournalContents journal = {HeaderJson(SampleFacts(), 0), {}, /*torn=*/true};
  const json report = json::parse(AssembleReport(journal, {RunStatus::kInterrupted, "", {}, ""}));
  ASSERT_EQ(report["errors"].size(), 1U);
  EXPECT_THAT(report["errors"][0]["what"], HasSubstr("last line of the journal"));
}

TEST(ReportTest, TextThatIsNotUtf8IsRepaired) {
  RunFacts facts = SampleFacts();
  facts.environment.cpu_model = "bad \xff";
  const std::string text =
      AssembleReport({HeaderJson(facts, 0), {}}, {RunStatus::kFailed, "\xc3(", {}, ""});
  EXPECT_EQ(json::parse(text)["environment"]["cpu_model"], "bad \xef\xbf\xbd");
}

TEST(ReportTest, NoTextOfTheRunIsTakenForTheListOfPoints) {
  RunFacts facts = SampleFacts();
  facts.environment.cpu_model = "\n  \"points\": []";
  const json report =
      json::parse(AssembleReport({HeaderJson(facts, 0), {PointJson(SamplePoint(16))}}, {}));
  EXPECT_EQ(report["environment"]["cpu_model"], facts.environment.cpu_model);
  EXPECT_EQ(report["points"].size(), 1U);
}

TEST(FinishReportTest, RemovesTheJournalOfACompleteRunOnly) {
  for (const RunStatus status :
       {RunStatus::kPassed, RunStatus::kWrong, RunStatus::kHung, RunStatus::kInterrupted,
        RunStatus::kRefused, RunStatus::kFailed}) {
    const TestDirectory directory;
    const std::string path = directory.File("a.json");
    WriteSampleJournal(path, 2);
    FinishReport(path, {status, "", {}, ""});
    const json report = json::parse(ReadFile(path));
    EXPECT_EQ(report["run"]["status"], ToString(status));
    EXPECT_EQ(report["points"].size(), 2U);
    if (status == RunStatus::kPassed || status == RunStatus::kWrong) {
      EXPECT_THAT(directory.Names(), ElementsAre("a.json"));
    } else {
      EXPECT_THAT(directory.Names(), ElementsAre("a.json", "a.json.journal"));
    }
  }
}

// Nothing can go on with it.
TEST(FinishReportTest, RemovesTheJournalOfAStressWhateverItsEnd) {
  for (const RunStatus status : {RunStatus::kInterrupted, RunStatus::kHung, RunStatus::kPassed}) {
    const TestDirectory directory;
    const std::string path = directory.File("a.json");
    JournalWriter journal = JournalWriter::Create(
        JournalPath(path), HeaderJson(SampleStressFacts(), 0), {}, /*replace=*/false);
    journal.Append(SampleStress());
    FinishReport(path, {status, "", {}, ""});
    EXPECT_THAT(directory.Names(), ElementsAre("a.json"));
    FinishReport(path, {RunStatus::kFailed, "", {}, ""});  // another process, a little later
    const json report = json::parse(ReadFile(path));
    EXPECT_EQ(report["run"]["status"], ToString(status));
    EXPECT_EQ(report["stress"].size(), 1U);
  }
}

TEST(FinishReportTest, DoesNothingOnceAnotherHasCompletedTheRun) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 1);
  FinishReport(path, {RunStatus::kPassed, "", {}, ""});
  FinishReport(path, {RunStatus::kHung, "", {}, ""});
  EXPECT_EQ(json::parse(ReadFile(path))["run"]["status"], "passed");
}

TEST(FinishReportTest, NeedsAJournalWhenThereIsNoReport) {
  const TestDirectory directory;
  EXPECT_THAT(MessageOf<SystemError>([&] { FinishReport(directory.File("a.json"), {}); }),
              HasSubstr("a.json.journal"));
}

TEST(FinishReportTest, ManyThreadsAtOnceDoNoHarm) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 50);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { FinishReport(path, {RunStatus::kInterrupted, "", {}, ""}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(json::parse(ReadFile(path))["points"].size(), 50U);
  EXPECT_THAT(directory.Names(), ElementsAre("a.json", "a.json.journal"));
}

}  // namespace
}  // namespace mailbench::test
