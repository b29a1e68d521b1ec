// Run under mpirun with several rank counts: every test holds for any of them.
#include "harness/ranks/ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "harness/ranks/launcher.h"
#include "harness/ranks/mpi_error.h"
#include "harness/ranks/test_ranks.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

// The code and text of the Error that `vote` throws; {kPassed, ""} when it throws none.
std::pair<ExitCode, std::string> Outcome(const std::function<void()>& vote) {
  try {
    vote();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::kPassed, ""};
}

TEST(RanksTest, KnowsWhoTheyAre) {
  EXPECT_GE(TestRanks().rank(), 0);
  EXPECT_LT(TestRanks().rank(), TestRanks().size());
  const LauncherFacts launcher = ReadLauncherEnvironment();
  EXPECT_EQ(launcher.rank, TestRanks().rank());
  EXPECT_EQ(launcher.size, TestRanks().size());
  EXPECT_EQ(TestRanks().hosts().size(), static_cast<std::size_t>(TestRanks().size()));
  EXPECT_FALSE(TestRanks().hosts().front().empty());
  EXPECT_TRUE(TestRanks().one_host());
}

TEST(RanksTest, MaxAndGatherGoByRank) {
  TestRanks().Barrier();
  EXPECT_EQ(TestRanks().Max(-TestRanks().rank()), 0);
  EXPECT_EQ(TestRanks().Max(TestRanks().rank()), TestRanks().size() - 1);
  const std::vector<double> values = TestRanks().Gather(TestRanks().rank() * 1.5);
  ASSERT_EQ(values.size(), static_cast<std::size_t>(TestRanks().size()));
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    EXPECT_EQ(values[rank], static_cast<double>(rank) * 1.5);
  }
}

TEST(RanksTest, GathersTextsOfAnyLength) {
  const auto rank = static_cast<std::size_t>(TestRanks().rank());
  const std::vector<std::string> texts = TestRanks().Gather(std::string(rank * 1000, 'x'));
  ASSERT_EQ(texts.size(), static_cast<std::size_t>(TestRanks().size()));
  for (std::size_t each = 0; each < texts.size(); ++each) {
    EXPECT_EQ(texts[each], std::string(each * 1000, 'x'));
  }
}

TEST(VoteTest, PassesWhenNoRankFailed) {
  EXPECT_NO_THROW(TestRanks().Vote(ExitCode::kPassed, ""));
  // A code without a text is no failure.
  EXPECT_NO_THROW(TestRanks().Vote(ExitCode::kHung, ""));
}

TEST(VoteTest, OneRankThatFailedIsNamedOnEveryRank) {
  const int last = TestRanks().size() - 1;
  const bool failed = TestRanks().rank() == last;
  const auto [code, text] =
      Outcome([&] { TestRanks().Vote(ExitCode::kFailed, failed ? "the disk is full" : ""); });
  EXPECT_EQ(code, ExitCode::kFailed);
  EXPECT_EQ(text,
            last == 0 ? "the disk is full" : "rank " + std::to_string(last) + ": the disk is full");
}

TEST(VoteTest, AllRanksWithOneTextAreNotNamed) {
  const auto [code, text] = Outcome([] { TestRanks().Vote(ExitCode::kUsage, "no such flag"); });
  EXPECT_EQ(code, ExitCode::kUsage);
  EXPECT_EQ(text, "no such flag");
}

TEST(VoteTest, TheWorstCodeWinsAndThenTheLowestRank) {
  const ExitCode codes[] = {ExitCode::kUsage, ExitCode::kWrong, ExitCode::kWrong,
                            ExitCode::kMachine};
  const auto rank = static_cast<std::size_t>(TestRanks().rank());
  const auto [code, text] =
      Outcome([&] { TestRanks().Vote(codes[rank % 4], "text of " + std::to_string(rank)); });
  if (TestRanks().size() == 1) {
    EXPECT_EQ(code, ExitCode::kUsage);
    EXPECT_EQ(text, "text of 0");
  } else {
    EXPECT_EQ(code, ExitCode::kWrong);
    EXPECT_EQ(text, "rank 1: text of 1");
  }
}

TEST(VoteTest, ThrowsTheTypeOfTheCode) {
  EXPECT_THROW(TestRanks().Vote(ExitCode::kUsage, "x"), UsageError);
  EXPECT_THROW(TestRanks().Vote(ExitCode::kMachine, "x"), MachineError);
  EXPECT_THROW(TestRanks().Vote(ExitCode::kFailed, "x"), SystemError);
  EXPECT_EQ(Outcome([] { TestRanks().Vote(ExitCode::kHung, "x"); }).first, ExitCode::kHung);
  EXPECT_EQ(Outcome([] { TestRanks().Vote(ExitCode::kPassed, "x"); }).first, ExitCode::kFailed);
}

// A file that rank 0 looks at is on the host of all.
TEST(OnRankZeroTest, RunsThereAloneAndItsErrorIsEveryRanks) {
  int runs = 0;
  OnRankZero(TestRanks(), [&] { ++runs; });
  EXPECT_EQ(runs, TestRanks().rank() == 0 ? 1 : 0);
  EXPECT_EQ(Outcome([] { OnRankZero(TestRanks(), [] { throw UsageError("report a exists"); }); }),
            std::pair(ExitCode::kUsage, std::string("report a exists")));
  EXPECT_EQ(Outcome([] { OnRankZero(TestRanks(), [] { throw SystemError("a: disk full"); }); }),
            std::pair(ExitCode::kFailed, std::string("a: disk full")));
}

TEST(MpiErrorTest, SaysCallTextPlaceAndRank) {
  int value = 0;
  const auto [code, text] =
      Outcome([&] { MAILBENCH_MPI(MPI_Send(&value, 1, MPI_INT, 1 << 20, 0, TestRanks().comm())); });
  EXPECT_EQ(code, ExitCode::kFailed);
  const std::string start =
      "MPI_Send failed on rank " + std::to_string(TestRanks().rank()) + " on " +
      TestRanks().hosts()[static_cast<std::size_t>(TestRanks().rank())] + ": MPI_ERR_RANK";
  EXPECT_EQ(text.substr(0, start.size()), start);
  EXPECT_NE(text.find("ranks_test.cc:"), std::string::npos);
}

}  // namespace
}  // namespace mailbench
