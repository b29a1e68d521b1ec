#include "harness/run/stress_findings.h"

#include <gtest/gtest.h>

namespace mailbench {
namespace {

StressRecord Found(const char* algorithm, std::uint64_t calls, std::uint64_t wrong_calls) {
  StressRecord record;
  record.algorithm = algorithm;
  record.calls = calls;
  record.wrong_calls = wrong_calls;
  return record;
}

Ending Interrupted() { return {ExitCode::kFailed, RunStatus::kInterrupted, "a signal", {}}; }

TEST(StressFindings, SayNothingOfARunThatStressesNothing) {
  Ending ending = Interrupted();
  StressFindings().AddTo(ending);
  EXPECT_EQ(ending.reason, "a signal");
}

TEST(StressFindings, LeaveTheEndingOfAStressThatFoundNothing) {
  StressFindings findings;
  findings.Note(Found("lamport", 0, 0));
  findings.Note(Found("mpi", 0, 0));
  findings.Note(Found("lamport", 812, 0));
  Ending ending = Interrupted();
  findings.AddTo(ending);
  EXPECT_EQ(ending.code, ExitCode::kFailed);
  EXPECT_EQ(ending.status, RunStatus::kInterrupted);
  EXPECT_EQ(ending.reason,
            "a signal\nfound by then: no wrong call (lamport 0 of 812, mpi none on record)");
}

TEST(StressFindings, OfWrongCallsAreWorseThanASignalAndBetterThanAHang) {
  StressFindings findings;
  findings.Note(Found("lamport", 812, 1));
  findings.Note(Found("mnnvl", 100, 3));
  Ending ending = Interrupted();
  findings.AddTo(ending);
  EXPECT_EQ(ending.code, ExitCode::kWrong);
  EXPECT_EQ(ending.status, RunStatus::kWrong);
  EXPECT_EQ(ending.reason,
            "a signal\nfound by then: 4 wrong calls (lamport 1 of 812, mnnvl 3 of 100)");
  ending = {ExitCode::kHung, RunStatus::kHung, "stuck", {}};
  findings.AddTo(ending);
  EXPECT_EQ(ending.code, ExitCode::kHung);
  EXPECT_EQ(ending.status, RunStatus::kHung);
  EXPECT_EQ(ending.reason,
            "stuck\nfound by then: 4 wrong calls (lamport 1 of 812, mnnvl 3 of 100)");
}

TEST(StressFindings, CountWordsLeftInMailboxes) {
  StressFindings findings;
  StressRecord record = Found("lamport", 812, 0);
  record.check.leftover = 1;
  findings.Note(record);
  Ending ending = Interrupted();
  findings.AddTo(ending);
  EXPECT_EQ(ending.code, ExitCode::kWrong);
  EXPECT_EQ(ending.reason,
            "a signal\nfound by then: no wrong call, 1 word left in mailboxes (lamport 0 of 812)");
}

}  // namespace
}  // namespace mailbench
