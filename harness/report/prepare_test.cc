#include "harness/report/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/error.h"
#include "harness/report/report.h"
#include "harness/report/report_json.h"
#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uid_t kNobody = 65534;

RunIdentity Identity() { return SampleFacts().identity; }

std::string Refusal(const ReportOptions& options, const RunIdentity& identity = Identity()) {
  return MessageOf<UsageError>([&] { PrepareReport(options, identity); });
}

void MakeReport(const std::string& path, int points, RunStatus status) {
  WriteSampleJournal(path, points);
  FinishReport(path, {status, "", {}, ""});
}

std::string Key(std::int64_t bytes) { return ToString(SamplePoint(bytes).key); }

TEST(PrepareReportTest, ANewReportNeedsNothing) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  for (const bool option : {false, true}) {
    EXPECT_EQ(Refusal({path, option, false}), "");
    EXPECT_EQ(Refusal({path, false, option}), "");
  }
  EXPECT_THAT(directory.Names(), IsEmpty());
  OpenJournal(PrepareReport({path}, Identity()), SampleFacts());
  EXPECT_THAT(directory.Names(), ElementsAre("a.json.journal"));
}

TEST(PrepareReportTest, ABareNameIsInTheWorkingDirectory) {
  const TestDirectory directory;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  EXPECT_EQ(Refusal({"a.json"}), "");
  std::filesystem::current_path(before);
}

TEST(PrepareReportTest, RefusesAPathThatCannotHoldAReport) {
  const TestDirectory directory;
  WriteText(directory.File("file"), "");
  std::filesystem::create_directory(directory.File("folder"));
  std::filesystem::create_symlink(directory.File("file"), directory.File("link"));
  const auto before = directory.Names();
  EXPECT_THAT(Refusal({directory.File("none/a.json")}),
              AllOf(HasSubstr(directory.File("none")), HasSubstr("No such file")));
  EXPECT_THAT(Refusal({directory.File("file/a.json")}), HasSubstr("not a directory"));
  EXPECT_THAT(Refusal({directory.File("folder")}), HasSubstr("is a directory"));
  EXPECT_THAT(Refusal({directory.File("folder/")}), HasSubstr("is a directory"));
  // As root a rename would put a plain file in the device's place.
  for (const bool force : {false, true}) {
    EXPECT_THAT(Refusal({"/dev/null", force}), HasSubstr("not a plain file"));
    EXPECT_THAT(Refusal({directory.File("link"), force}), HasSubstr("not a plain file"));
  }
  EXPECT_THAT(Refusal({"/proc/a.json"}), HasSubstr("/proc/a.json"));
  EXPECT_THAT(Refusal({directory.File(std::string(250, 'a'))}), HasSubstr("too long"));
  // The report's own name fits, that of its temporary file does not.
  EXPECT_THAT(Refusal({directory.File(std::string(244, 'a'))}), HasSubstr("too long"));
  EXPECT_EQ(directory.Names(), before);
}

TEST(PrepareReportTest, RefusesADirectoryWithoutPermission) {
  const TestDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms{0555});
  // Root may write anywhere.
  const uid_t user = geteuid();
  if (user == 0) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  EXPECT_THAT(Refusal({directory.File("a.json")}), HasSubstr("Permission denied"));
  if (user == 0) {
    ASSERT_EQ(seteuid(user), 0);
  }
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_all);
}

TEST(PrepareReportTest, AnExistingReportNeedsForceOrResume) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  MakeReport(path, 2, RunStatus::kPassed);
  const std::string text = ReadFile(path);
  EXPECT_THAT(Refusal({path}), AllOf(HasSubstr(path), HasSubstr("--force")));
  EXPECT_EQ(Refusal({path, false, true}), "");
  JournalWriter journal =
      OpenJournal(PrepareReport({path, true, false}, Identity()), SampleFacts());
  EXPECT_EQ(ReadFile(path), text) << "the old report goes only when there is a new one";
  FinishReport(path, {RunStatus::kPassed, "", {}, ""});
  EXPECT_EQ(nlohmann::json::parse(ReadFile(path))["points"].size(), 0U);
}

TEST(PrepareReportTest, ALeftoverJournalNeedsForceOrResume) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 2);
  EXPECT_THAT(Refusal({path}), AllOf(HasSubstr(path + ".journal"), HasSubstr("did not finish"),
                                     HasSubstr("--resume"), HasSubstr("--force")));
  const PreparedReport prepared = PrepareReport({path, true, false}, Identity());
  EXPECT_THAT(prepared.finished, IsEmpty());
  OpenJournal(prepared, SampleFacts());
  EXPECT_THAT(ReadJournal(path + ".journal").points, IsEmpty());
}

TEST(PrepareReportTest, SaysHowThisRunGoesOn) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 2);
  EXPECT_THAT(Refusal({path, false, false, "--resume without --trace"}),
              HasSubstr("go on with --resume without --trace, or start anew with --force"));
  EXPECT_THAT(Refusal({path, false, false, ""}), HasSubstr("did not finish; start anew with"));
}

TEST(PrepareReportTest, WhatAStressLeftIsNotResumed) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteText(path + ".journal", HeaderJson(SampleStressFacts(), 0) + '\n');
  EXPECT_THAT(Refusal({path}), AllOf(HasSubstr("did not finish; start anew with --force"),
                                     ::testing::Not(HasSubstr("--resume"))));
  EXPECT_THAT(Refusal({path, false, true}),
              HasSubstr(path + ".journal: it is of a stress, which starts anew each time"));
  EXPECT_EQ(Refusal({path, true, false}), "");
}

TEST(PrepareReportTest, RefusesBothForceAndResume) {
  const TestDirectory directory;
  EXPECT_THAT(Refusal({directory.File("a.json"), true, true}), HasSubstr("exclude"));
}

TEST(PrepareReportTest, RefusesWhileAnotherRunWrites) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  const JournalWriter journal = OpenJournal(PrepareReport({path}, Identity()), SampleFacts());
  for (const bool force : {false, true}) {
    EXPECT_THAT(Refusal({path, force, !force}), HasSubstr("another run is writing"));
  }
}

TEST(PrepareReportTest, ResumeKeepsThePointsOfAJournal) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  MakeReport(path, 1, RunStatus::kFailed);  // older than the journal
  std::filesystem::remove(path + ".journal");
  WriteSampleJournal(path, 2);
  const PreparedReport prepared = PrepareReport({path, false, true}, Identity());
  EXPECT_THAT(prepared.finished, UnorderedElementsAre(Key(16), Key(32)));
  EXPECT_FALSE(prepared.any_wrong);
  JournalWriter journal = OpenJournal(prepared, SampleFacts());
  journal.Append(SamplePoint(48));
  FinishReport(path, {RunStatus::kPassed, "", {}, ""});
  const auto report = nlohmann::json::parse(ReadFile(path));
  EXPECT_EQ(report["run"]["resumed_points"], 2);
  ASSERT_EQ(report["points"].size(), 3U);
  EXPECT_EQ(report["points"][0]["bytes_per_rank"], 16);
  EXPECT_EQ(report["points"][2]["bytes_per_rank"], 48);
}

TEST(PrepareReportTest, ResumeReadsTheReportWhenThereIsNoJournal) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 0);
  PointRecord wrong = SamplePoint(16);
  wrong.check.mismatches = 1;
  OpenJournal(PrepareReport({path, false, true}, Identity()), SampleFacts()).Append(wrong);
  FinishReport(path, {RunStatus::kWrong, "", {}, ""});
  ASSERT_THAT(directory.Names(), ElementsAre("a.json"));
  const PreparedReport prepared = PrepareReport({path, false, true}, Identity());
  EXPECT_THAT(prepared.finished, ElementsAre(Key(16)));
  EXPECT_TRUE(prepared.any_wrong);
}

TEST(PrepareReportTest, ResumeKnowsARunThatCameToItsEnd) {
  for (const RunStatus status :
       {RunStatus::kPassed, RunStatus::kWrong, RunStatus::kHung, RunStatus::kInterrupted,
        RunStatus::kRefused, RunStatus::kFailed}) {
    const TestDirectory directory;
    const std::string path = directory.File("a.json");
    MakeReport(path, 2, status);
    std::filesystem::remove(path + ".journal");
    EXPECT_EQ(PrepareReport({path, false, true}, Identity()).ended,
              status == RunStatus::kPassed || status == RunStatus::kWrong)
        << ToString(status);
    // A run that was cut short has left this since.
    WriteSampleJournal(path, 2);
    EXPECT_FALSE(PrepareReport({path, false, true}, Identity()).ended);
    WriteText(path + ".journal", "{");
    EXPECT_FALSE(PrepareReport({path, false, true}, Identity()).ended);
  }
  const TestDirectory directory;
  EXPECT_FALSE(PrepareReport({directory.File("a.json"), false, true}, Identity()).ended);
}

TEST(PrepareReportTest, ResumeDropsWhatACrashLeft) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 2);
  const std::string text = ReadFile(path + ".journal");
  WriteText(path + ".journal", text.substr(0, text.size() - 5));
  EXPECT_THAT(PrepareReport({path, false, true}, Identity()).finished, ElementsAre(Key(16)));
  WriteText(path + ".journal", text.substr(0, 5));
  EXPECT_THAT(PrepareReport({path, false, true}, Identity()).finished, IsEmpty());
}

TEST(PrepareReportTest, ResumeNamesTheFirstDifference) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 1);
  const std::string before = ReadFile(path + ".journal");
  const auto refusal = [&](const auto& change) {
    RunIdentity identity = Identity();
    change(identity);
    return Refusal({path, false, true}, identity);
  };
  EXPECT_THAT(refusal([](RunIdentity& run) { run.collective = "head_gather"; }),
              HasSubstr("collective was lamport_all_gather and is now head_gather"));
  EXPECT_THAT(refusal([](RunIdentity& run) { run.ranks = 8; }),
              HasSubstr("the number of ranks was 4 and is now 8"));
  EXPECT_THAT(refusal([](RunIdentity& run) { run.build.version = "0.2.0"; }),
              HasSubstr("version was 0.1.0 and is now 0.2.0"));
  EXPECT_THAT(refusal([](RunIdentity& run) { run.build.git = "abc"; }), HasSubstr("is now abc"));
  EXPECT_THAT(refusal([](RunIdentity& run) {
                run.config = run.measured_config = R"({"bytes":[16,32],"iters":20})";
              }),
              HasSubstr("iters was 3 and is now 20"));
  EXPECT_THAT(refusal([](RunIdentity& run) {
                run.config = run.measured_config = R"({"bytes":[16,32],"iters":3,"seed":1})";
              }),
              HasSubstr("seed was not given and is now 1"));
  EXPECT_THAT(refusal([](RunIdentity& run) {
                run.config = R"({"iters":3,"json":"","timeout":1})";
                run.measured_config = R"({"iters":3})";
              }),
              HasSubstr("bytes was [16,32] and is now not given"));
  EXPECT_EQ(refusal([](RunIdentity& run) {
              run.config = R"({"iters":3,"bytes":[16,32],"json":"b.json","timeout":1})";
            }),
            "");
  EXPECT_EQ(ReadFile(path + ".journal"), before);
}

TEST(PrepareReportTest, ResumeRefusesWhatIsNotAReport) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  for (const std::string text :
       {"", "{", "[]", "{}", R"({"schema_version":3})", R"({"schema_version":3,"points":[]})",
        R"({"schema_version":3,"points":{},"run":1})"}) {
    WriteText(path, text);
    EXPECT_THAT(Refusal({path, false, true}), HasSubstr("not a report")) << text;
  }
  WriteText(path, R"({"schema_version":7})");
  EXPECT_THAT(Refusal({path, false, true}), HasSubstr("schema version 7"));
}

}  // namespace
}  // namespace mailbench::test
