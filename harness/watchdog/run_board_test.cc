// Run under mpirun with several rank counts: every test holds for any of them.
#include "harness/watchdog/run_board.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

Ranks* g_ranks = nullptr;

TEST(RunBoardTest, EveryRankSeesEveryRank) {
  RunBoard board(*g_ranks);
  const auto size = static_cast<std::size_t>(g_ranks->size());
  const auto rank = static_cast<std::size_t>(g_ranks->rank());
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
  g_ranks->Barrier();
  const std::vector<double> pids = g_ranks->Gather(getpid());
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
  g_ranks->Barrier();
  board.Free();
}

TEST(RunBoardTest, OneRankClaims) {
  RunBoard board(*g_ranks);
  EXPECT_FALSE(HasEnded(board.view()));
  EXPECT_FALSE(SaidCode(board.view()));
  g_ranks->Barrier();
  const bool claimed = TryClaim(board.view()).claimed;
  double claims = 0;
  for (const double each : g_ranks->Gather(claimed ? 1.0 : 0.0)) {
    claims += each;
  }
  EXPECT_EQ(claims, 1);
  EXPECT_TRUE(IsClaimed(board.view()));
  if (claimed) {
    SayEnding(board.view(), ExitCode::kWrong, "call 3 is wrong");
    MarkEnded(board.view());
  }
  g_ranks->Barrier();
  EXPECT_TRUE(HasEnded(board.view()));
  EXPECT_EQ(SaidCode(board.view()), ExitCode::kWrong);
  EXPECT_EQ(SaidReason(board.view()), "call 3 is wrong");
  board.Free();
}

TEST(RunBoardTest, ABoardCanBeMadeAgain) {
  for (int round = 0; round < 5; ++round) {
    RunBoard board(*g_ranks);
    EXPECT_FALSE(IsClaimed(board.view()));
    EXPECT_EQ(Read(*board.slot()).calls, 0U);
    Heartbeat(board.slot()).CountCall();
    g_ranks->Barrier();
    board.Free();
  }
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  mailbench::Ranks ranks(&argc, &argv);
  mailbench::g_ranks = &ranks;
  const int failed = RUN_ALL_TESTS();
  ranks.Finalize();
  return failed;
}
