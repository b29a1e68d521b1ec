#include "harness/report/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "harness/error.h"
#include "harness/report/report_json.h"
#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::string Header() { return HeaderJson(SampleFacts(), 0); }

TEST(JournalTest, ReadsWhatWasAppended) {
  const TestDirectory directory;
  WriteSampleJournal(directory.File("a.json"), 2);
  const JournalContents contents = ReadJournal(directory.File("a.json.journal"));
  EXPECT_EQ(contents.header, Header());
  EXPECT_THAT(contents.points, ElementsAre(PointJson(SamplePoint(16)), PointJson(SamplePoint(32))));
  EXPECT_FALSE(contents.torn);
}

TEST(JournalTest, APointIsOnDiskWhileTheWriterLives) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  JournalWriter writer = JournalWriter::Create(path, Header(), {}, false);
  EXPECT_EQ(ReadJournal(path).points.size(), 0U);
  writer.Append(SamplePoint(16));
  EXPECT_EQ(ReadJournal(path).points.size(), 1U);
}

TEST(JournalTest, CreateRefusesAnExistingFile) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  WriteText(path, "precious");
  EXPECT_THAT(MessageOf<UsageError>([&] { JournalWriter::Create(path, Header(), {}, false); }),
              HasSubstr(path));
  EXPECT_EQ(ReadFile(path), "precious");
}

TEST(JournalTest, CreateReplacesInOneStepWithTheOldPoints) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  WriteText(path, "old");
  JournalWriter writer = JournalWriter::Create(path, Header(), {"{\"old\":1}"}, true);
  writer.Append(SamplePoint(16));
  EXPECT_THAT(ReadJournal(path).points, ElementsAre("{\"old\":1}", PointJson(SamplePoint(16))));
  EXPECT_THAT(directory.Names(), ElementsAre("j"));
}

TEST(JournalTest, DropsATornLastLine) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  for (const std::string torn : {"{\"b\":", "{\"b\":2}", "{\"b\"\n"}) {
    WriteText(path, Header() + "\n{\"a\":1}\n" + torn);
    const JournalContents contents = ReadJournal(path);
    EXPECT_THAT(contents.points, ElementsAre("{\"a\":1}")) << torn;
    EXPECT_TRUE(contents.torn) << torn;
  }
}

TEST(JournalTest, NamesAMalformedLine) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  const std::pair<std::string, int> cases[] = {
      {"nonsense\n", 1},
      {Header() + "\n{\"a\":\n{\"b\":2}\n", 2},
      {Header() + "\n{}\n\n{}\n", 3},
      {Header() + "\n[1]\n{}\n", 2},
  };
  for (const auto& [text, line] : cases) {
    WriteText(path, text);
    EXPECT_THAT(MessageOf<UsageError>([&] { ReadJournal(path); }),
                StartsWith(path + ", line " + std::to_string(line) + ":"))
        << text;
  }
}

TEST(JournalTest, RefusesAFileWithoutAHeader) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  for (const std::string& text : {std::string(), Header().substr(0, 20)}) {
    WriteText(path, text);
    EXPECT_THAT(MessageOf<UsageError>([&] { ReadJournal(path); }), HasSubstr("first line"));
  }
  EXPECT_THAT(MessageOf<SystemError>([&] { ReadJournal(directory.File("none")); }),
              HasSubstr("No such file"));
}

TEST(JournalTest, IsInUseWhileItsWriterLives) {
  const TestDirectory directory;
  const std::string path = directory.File("j");
  for (const bool replace : {false, true}) {
    {
      JournalWriter writer = JournalWriter::Create(path, Header(), {}, replace);
      const JournalWriter moved = std::move(writer);
      EXPECT_TRUE(IsJournalInUse(path));
    }
    EXPECT_FALSE(IsJournalInUse(path));
  }
}

TEST(PointJsonTest, IsOneLineWithEveryField) {
  EXPECT_EQ(
      PointJson(SamplePoint(16)),
      R"({"collective":"lamport_all_gather","algorithm":"lamport","transport":"host",)"
      R"("mode":"graph","l2":"not controlled","l2_evicted":null,"ranks":4,"shape":{"bytes":16},)"
      R"("bytes_per_rank":16,"bytes_total":64,"calls_per_sample":10,)"
      R"("warmup":{"samples":0,"steady":null},)"
      R"("latency_us":{"min":1.5,"p50":2.25,"p90":null,"p99":null,"p999":null,"max":4.0,)"
      R"("mean":2.5,"p50_interval":{"low":2.1875,"high":2.25,"confidence":0.96875},)"
      R"("clock_step":null,"count":3,"samples":[1.5,2.5,3.5]},)"
      R"("per_rank":[{"rank":0,"min":1.5,"p50":2.0,"max":3.5,"longest":1,"clock_before_mhz":1980,"clock_after_mhz":null},)"
      R"({"rank":1,"min":1.5,"p50":2.125,"max":3.0,"longest":0,"clock_before_mhz":1980,"clock_after_mhz":null},)"
      R"({"rank":2,"min":1.25,"p50":2.25,"max":4.0,"longest":2,"clock_before_mhz":1980,"clock_after_mhz":null},)"
      R"({"rank":3,"min":1.0,"p50":1.875,"max":2.0,"longest":0,"clock_before_mhz":1980,"clock_after_mhz":null}],)"
      R"("straggler":null,"straggler_share":null,"straggler_unknown":"there is no trace of it",)"
      R"("algbw":0.5,"busbw":0.375,"floor_us":null,"floor_ratio":null,)"
      R"("input_copies_per_call":0.0,"kernels":[],"check":{"kind":"bitwise","reference":"mpi","calls":40,)"
      R"("compared":640,"mismatches":0,"audited":1280,"leftover":0,"first":null},"trace":null})");
}

TEST(PointJsonTest, CheckIsNullWhenUnchecked) {
  PointRecord point = SamplePoint(16);
  point.checked = false;
  EXPECT_TRUE(nlohmann::json::parse(PointJson(point))["check"].is_null());
}

TEST(PointJsonTest, KeepsTheFirstThousandSamples) {
  const auto latency = nlohmann::json::parse(PointJson(SamplePoint(16, 1001)))["latency_us"];
  EXPECT_EQ(latency["samples"].size(), 1000U);
  EXPECT_EQ(latency["samples"][999], 1000.5);
  EXPECT_EQ(latency["count"], 1001);
}

TEST(PointJsonTest, NumbersThatAreNotFiniteNeverReachIt) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    PointRecord rate = SamplePoint(16);
    rate.algbw_gb_per_s = bad;
    EXPECT_TRUE(nlohmann::json::parse(PointJson(rate))["algbw"].is_null());
    PointRecord statistic = SamplePoint(16, 100);
    statistic.latency_us.p99 = bad;
    EXPECT_EQ(MessageOf<SystemError>([&] { PointJson(statistic); }),
              "point " + ToString(statistic.key) + ": latency_us.p99 is not a finite number");
    PointRecord sample = SamplePoint(16);
    sample.samples_us[1] = bad;
    EXPECT_THAT(MessageOf<SystemError>([&] { PointJson(sample); }),
                HasSubstr("latency_us.samples"));
    PointRecord interval = SamplePoint(16);
    interval.p50_interval_us.high = bad;
    EXPECT_THAT(MessageOf<SystemError>([&] { PointJson(interval); }),
                HasSubstr("latency_us.p50_interval.high"));
    PointRecord rank = SamplePoint(16);
    rank.per_rank[3].max = bad;
    EXPECT_THAT(MessageOf<SystemError>([&] { PointJson(rank); }), HasSubstr("per_rank.max"));
  }
}

TEST(PointJsonTest, SummaryGivesTheKeyBack) {
  PointRecord point = SamplePoint(16);
  point.key.shape.variables = {{"rows", 3}, {"columns", 128}};
  EXPECT_EQ(SummarizePoint(PointJson(point), "x").key, ToString(point.key));
  EXPECT_FALSE(SummarizePoint(PointJson(point), "x").wrong);
  point.check.leftover = 1;
  EXPECT_TRUE(SummarizePoint(PointJson(point), "x").wrong);
  EXPECT_THAT(MessageOf<UsageError>([] { SummarizePoint("{}", "file"); }), HasSubstr("file"));
}

TEST(JournalTest, KeepsTheNewestStressOfEachAlgorithm) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json.journal");
  {
    JournalWriter journal =
        JournalWriter::Create(path, HeaderJson(SampleFacts(), 0), {}, /*replace=*/false);
    StressRecord record = SampleStress("lamport");
    record.calls = 7;
    journal.Append(record);
    journal.Append(SampleStress("overlapped"));
    record.calls = 14;
    journal.Append(record);
    journal.Append(SamplePoint(16));
  }
  const JournalContents contents = ReadJournal(path);
  EXPECT_THAT(contents.points, ElementsAre(PointJson(SamplePoint(16))));
  ASSERT_THAT(contents.stress, SizeIs(2));
  EXPECT_THAT(contents.stress[0], HasSubstr("\"calls\":14,"));
  EXPECT_EQ(contents.stress[1], StressJson(SampleStress("overlapped")));
}

}  // namespace
}  // namespace mailbench::test
