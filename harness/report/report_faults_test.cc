// What a full disk, a read-only directory and a killed writer leave behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "harness/error.h"
#include "harness/report/report.h"
#include "harness/report/report_json.h"
#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr int kCannotMount = 77;

// Runs `action` in a process of its own and returns that one's wait status.
int InChild(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

// Runs `action` in a child that sees a small file system of its own at `directory`; skips the test
// where that cannot be had.
void OnSmallDisk(const std::string& directory, const std::function<void()>& action) {
  const int status = InChild([&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", directory.c_str(), "tmpfs", 0, "size=64k") != 0) {
      _exit(kCannotMount);
    }
    action();
  });
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannotMount) GTEST_SKIP() << "may not mount a file system";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// No file may grow beyond `bytes` from here on: a write fails, or kills with `fatal`. For children.
void LimitFileSize(std::size_t bytes, bool fatal) {
  signal(SIGXFSZ, fatal ? SIG_DFL : SIG_IGN);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit limit = {bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

RunEnding Interrupted() { return {RunStatus::kInterrupted, "", {}, ""}; }

std::size_t PointsIn(const std::string& report) {
  return nlohmann::json::parse(ReadFile(report))["points"].size();
}

// Appends until the disk is full; returns how many points are in the journal.
std::size_t FillWithPoints(const std::string& report, const std::string& reason) {
  JournalWriter journal =
      OpenJournal(PrepareReport({report}, SampleFacts().identity), SampleFacts());
  std::size_t points = 0;
  std::string error;
  while (error.empty() && points < 1000) {
    error = MessageOf<SystemError>(
        [&] { journal.Append(SamplePoint(16 * static_cast<std::int64_t>(points + 1))); });
    if (error.empty()) ++points;
  }
  EXPECT_THAT(error,
              AllOf(HasSubstr(JournalPath(report)), HasSubstr(reason),
                    HasSubstr("the " + std::to_string(points) + " points"), HasSubstr("--resume")));
  const JournalContents contents = ReadJournal(JournalPath(report));
  EXPECT_THAT(contents.points, SizeIs(points));
  EXPECT_FALSE(contents.torn) << "the half line was taken back";
  return points;
}

TEST(ReportFaultsTest, AppendThatFailsIsTakenBack) {
  const TestDirectory directory;
  EXPECT_EQ(InChild([&] {
              LimitFileSize(5000, false);
              EXPECT_GT(FillWithPoints(directory.File("a.json"), "File too large"), 1U);
            }),
            0);
}

TEST(ReportFaultsTest, AJournalThatCannotBeStartedLeavesNothing) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  EXPECT_EQ(InChild([&] {
              LimitFileSize(100, false);
              EXPECT_THAT(MessageOf<SystemError>([&] { FillWithPoints(path, ""); }),
                          HasSubstr("File too large"));
            }),
            0);
  EXPECT_THAT(directory.Names(), ::testing::IsEmpty());
  WriteSampleJournal(path, 3);
  EXPECT_EQ(InChild([&] {
              const auto prepared = PrepareReport({path, false, true}, SampleFacts().identity);
              LimitFileSize(1000, false);
              EXPECT_THAT(MessageOf<SystemError>([&] { OpenJournal(prepared, SampleFacts()); }),
                          HasSubstr("File too large"));
            }),
            0);
  EXPECT_THAT(directory.Names(), ElementsAre("a.json.journal"));
  EXPECT_THAT(ReadJournal(JournalPath(path)).points, SizeIs(3));
}

TEST(ReportFaultsTest, AReportThatFailsLeavesTheOldOneAndTheJournal) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 3);
  WriteText(path, "old");
  EXPECT_EQ(InChild([&] {
              LimitFileSize(2000, false);
              EXPECT_THAT(MessageOf<SystemError>([&] { FinishReport(path, Interrupted()); }),
                          AllOf(HasSubstr(path), HasSubstr("File too large"),
                                HasSubstr("the 3 finished points are kept")));
            }),
            0);
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_THAT(directory.Names(), ElementsAre("a.json", "a.json.journal"));
  FinishReport(path, Interrupted());
  EXPECT_EQ(PointsIn(path), 3U);
}

TEST(ReportFaultsTest, AReportOfAStressThatFailsLeavesTheJournal) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteText(JournalPath(path), HeaderJson(SampleStressFacts(), 0) + '\n');
  EXPECT_EQ(InChild([&] {
              LimitFileSize(100, false);
              EXPECT_THAT(MessageOf<SystemError>([&] { FinishReport(path, Interrupted()); }),
                          AllOf(HasSubstr("what was found is kept in " + JournalPath(path)),
                                ::testing::Not(HasSubstr("--resume"))));
            }),
            0);
  EXPECT_THAT(directory.Names(), ElementsAre("a.json.journal"));
}

TEST(ReportFaultsTest, AFullDiskKeepsTheEarlierPoints) {
  const TestDirectory directory;
  OnSmallDisk(directory.path(), [&] {
    const std::string path = directory.File("a.json");
    const std::string reason = "No space left on device";
    const std::size_t points = FillWithPoints(path, reason);
    EXPECT_GT(points, 10U);
    EXPECT_THAT(MessageOf<SystemError>([&] { FinishReport(path, Interrupted()); }),
                AllOf(HasSubstr(reason), HasSubstr("points are kept")));
    EXPECT_THAT(directory.Names(), ElementsAre("a.json.journal"));
    EXPECT_THAT(ReadJournal(JournalPath(path)).points, SizeIs(points));
    // With more space the report can still be had.
    ASSERT_EQ(mount("none", directory.path().c_str(), "tmpfs", MS_REMOUNT, "size=1m"), 0);
    FinishReport(path, Interrupted());
    EXPECT_EQ(PointsIn(path), points);
  });
}

TEST(ReportFaultsTest, AReadOnlyFileSystemIsFoundBeforeTheSweep) {
  const TestDirectory directory;
  OnSmallDisk(directory.path(), [&] {
    const std::string path = directory.File("a.json");
    WriteSampleJournal(path, 1);
    ASSERT_EQ(mount("none", directory.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
    for (const std::string& report : {path, directory.File("b.json")}) {
      EXPECT_THAT(MessageOf<UsageError>([&] {
                    PrepareReport({report, false, true}, SampleFacts().identity);
                  }),
                  AllOf(HasSubstr(report), HasSubstr("Read-only file system")));
    }
    EXPECT_THAT(MessageOf<SystemError>([&] { FinishReport(path, Interrupted()); }),
                HasSubstr("Read-only file system"));
  });
}

// The limit kills the writer at a known byte: in the middle of a line.
TEST(ReportFaultsTest, AWriterKilledInAnAppendLosesThatPointOnly) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 2);
  const int status = InChild([&] {
    JournalWriter journal =
        OpenJournal(PrepareReport({path, false, true}, SampleFacts().identity), SampleFacts());
    LimitFileSize(ReadFile(JournalPath(path)).size() + 100, true);
    journal.Append(SamplePoint(48));
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(ReadJournal(JournalPath(path)).torn);
  FinishReport(path, Interrupted());
  EXPECT_EQ(PointsIn(path), 2U);
  EXPECT_THAT(ReadFile(path), HasSubstr("last line of the journal was not whole"));
}

TEST(ReportFaultsTest, AWriterKilledInAReportLeavesTheOldOne) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteText(path, "old");
  const int status = InChild([&] {
    LimitFileSize(100, true);
    WriteReport(path, std::string(1000, 'x'));
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(ReadFile(path), "old");
  const auto names = directory.Names();
  ASSERT_THAT(names, SizeIs(2)) << "the writer was killed before it could remove its file";
  EXPECT_THAT(*names.begin(), AllOf(StartsWith(".a.json."), EndsWith(".tmp")));
  RemoveStaleReplacements(directory.File("b.json"));
  EXPECT_THAT(directory.Names(), SizeIs(2)) << "not a file of this report";
  RemoveStaleReplacements(path);
  EXPECT_THAT(directory.Names(), ElementsAre("a.json"));
}

TEST(ReportFaultsTest, TheFileOfALivingWriterIsNotStale) {
  const TestDirectory directory;
  ReplacementFile file(directory.File("a.json"));
  RemoveStaleReplacements(directory.File("a.json"));
  file.Write("new");
  file.Commit();
  EXPECT_EQ(ReadFile(directory.File("a.json")), "new");
}

TEST(ReportFaultsTest, AWriterKilledAtAnyTimeLeavesAWholeReport) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  const std::string texts[2] = {std::string(1 << 20, 'a'), std::string(2 << 20, 'b')};
  WriteReport(path, texts[0]);
  for (int trial = 0; trial < 20; ++trial) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0;; ++i) WriteReport(path, texts[i % 2]);
    }
    usleep(static_cast<useconds_t>(500 * trial));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string text = ReadFile(path);
    EXPECT_TRUE(text == texts[0] || text == texts[1]) << text.size() << " bytes";
  }
  RemoveStaleReplacements(path);
  EXPECT_THAT(directory.Names(), ElementsAre("a.json"));
}

TEST(ReportFaultsTest, ManyProcessesFinishAtOnce) {
  const TestDirectory directory;
  const std::string path = directory.File("a.json");
  WriteSampleJournal(path, 50);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      // Some complete the run and remove the journal under the others' eyes.
      const RunStatus status = i % 2 == 0 ? RunStatus::kPassed : RunStatus::kInterrupted;
      const std::string error = MessageOf<Error>([&] { FinishReport(path, {status, "", {}, ""}); });
      _exit(error.empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(PointsIn(path), 50U);
  EXPECT_THAT(directory.Names(), ElementsAre("a.json"));
}

}  // namespace
}  // namespace mailbench::test
