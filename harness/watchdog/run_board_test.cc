// Run under mpirun with several rank counts: every test holds for any of them.
#include "harness/watchdog/run_board.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

TEST(RunBoardTest, EveryRankSeesEveryRank) {
  RunBoard board(TestRanks());
  const auto size = static_cast<std::size_t>(TestRanks().size());
  const auto rank = static_cast<std::size_t>(TestRanks().rank());
  ASSERT_EQ(board.view().slots.size(), size);
  EXPECT_EQ(board.view().own, rank);
  EXPECT_EQ(board.slot(), &board.view().slots[rank]);
  EXPECT_EQ(board.slot()->pid.load(), getpid());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(board.view().control) % 128, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(board.view().slots.data()) % 128, 0U);

  Heartbeat heartbeat(board.slot());
  heartbeat.Enter(Phase::kMeasure, static_cast<std::uint32_t>(rank + 10));
  for (std::size_t call = 0; call < rank; ++call) {
    heartbeat.CountCall();
  }
  TestRanks().Barrier();
  const std::vector<double> pids = TestRanks().Gather(getpid());
  const std::vector<RankSnapshot> snapshots = TakeSnapshots(board.view(), Liveness::kAllRanks);
  ASSERT_EQ(snapshots.size(), size);
  for (std::size_t each = 0; each < size; ++each) {
    EXPECT_EQ(snapshots[each].rank, static_cast<int>(each));
    EXPECT_EQ(snapshots[each].pid, static_cast<int>(pids[each]));
    EXPECT_TRUE(snapshots[each].alive);
    EXPECT_EQ(snapshots[each].state.phase, Phase::kMeasure);
    EXPECT_EQ(snapshots[each].state.point, each + 10);
    EXPECT_EQ(snapshots[each].state.calls, each);
  }
  TestRanks().Barrier();
  board.Free();
}

TEST(RunBoardTest, OneRankClaims) {
  RunBoard board(TestRanks());
  EXPECT_FALSE(HasEnded(board.view()));
  EXPECT_FALSE(SaidCode(board.view()));
  TestRanks().Barrier();
  const bool claimed = TryClaim(board.view()).claimed;
  double claims = 0;
  for (const double each : TestRanks().Gather(claimed ? 1.0 : 0.0)) {
    claims += each;
  }
  EXPECT_EQ(claims, 1);
  EXPECT_TRUE(IsClaimed(board.view()));
  if (claimed) {
    SayEnding(board.view(), ExitCode::kWrong, "call 3 is wrong");
    MarkEnded(board.view());
  }
  TestRanks().Barrier();
  EXPECT_TRUE(HasEnded(board.view()));
  EXPECT_EQ(SaidCode(board.view()), ExitCode::kWrong);
  EXPECT_EQ(SaidReason(board.view()), "call 3 is wrong");
  board.Free();
}

TEST(RunBoardTest, ABoardCanBeMadeAgain) {
  for (int round = 0; round < 5; ++round) {
    RunBoard board(TestRanks());
    EXPECT_FALSE(IsClaimed(board.view()));
    EXPECT_EQ(Read(*board.slot()).calls, 0U);
    Heartbeat(board.slot()).CountCall();
    TestRanks().Barrier();
    board.Free();
  }
}

}  // namespace
}  // namespace mailbench
