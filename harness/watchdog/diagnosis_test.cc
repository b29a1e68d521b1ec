#include "harness/watchdog/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 100 * kSecond;
constexpr std::int64_t kTimeout = 10 * kSecond;

// A rank that is there since `age` seconds before now.
RankSnapshot At(int rank, Phase phase, std::uint32_t point, std::uint64_t calls, double age) {
  RankSnapshot snapshot;
  snapshot.rank = rank;
  snapshot.pid = 1000 + rank;
  snapshot.state.phase = phase;
  snapshot.state.point = point;
  snapshot.state.calls = calls;
  snapshot.state.since_ns = kNow - static_cast<std::int64_t>(age * 1e9);
  return snapshot;
}

RankSnapshot Dead(RankSnapshot snapshot) {
  snapshot.alive = false;
  return snapshot;
}

RankSnapshot NotArrived(int rank) {
  RankSnapshot snapshot;
  snapshot.rank = rank;
  return snapshot;
}

std::optional<Diagnosis> DiagnoseAll(const std::vector<RankSnapshot>& snapshots,
                                     std::int64_t counting_from_ns = 0) {
  return Diagnose(snapshots, kNow, kTimeout, counting_from_ns);
}

std::string TextOf(const std::vector<RankSnapshot>& snapshots, std::int64_t counting_from_ns = 0) {
  const auto diagnosis = DiagnoseAll(snapshots, counting_from_ns);
  return diagnosis ? diagnosis->text : "goes on";
}

TEST(DiagnoseTest, ARunWithoutRanksGoesOn) { EXPECT_EQ(TextOf({}), "goes on"); }

TEST(DiagnoseTest, NamesTheRankThatNeverEnteredACall) {
  const auto diagnosis =
      DiagnoseAll({At(0, Phase::kCheck, 3, 17, 10.1), At(1, Phase::kCheck, 3, 17, 10.05),
                   At(2, Phase::kCheck, 3, 16, 10.2), At(3, Phase::kCheck, 3, 17, 10.15)});
  ASSERT_TRUE(diagnosis);
  EXPECT_THAT(diagnosis->culprits, ElementsAre(2));
  EXPECT_THAT(diagnosis->waiting, ElementsAre(0, 1, 3));
  EXPECT_EQ(diagnosis->since_ns, kNow - 10'200'000'000);
  EXPECT_EQ(diagnosis->text,
            "rank 2 never entered call 17 (point 3, check) and was last seen 10.2 s ago in call 16 "
            "(point 3, check)\n"
            "ranks 0, 1, 3 wait for it, the nearest in call 17 (point 3, check) for 10.2 s");
}

TEST(DiagnoseTest, NamesTheRankThatNeverCameToWhereTheRanksMeet) {
  std::vector<RankSnapshot> snapshots = {At(0, Phase::kMeasure, 3, 17, 10.5),
                                         At(1, Phase::kMeasure, 3, 17, 10.6),
                                         At(2, Phase::kMeasure, 3, 17, 10.4)};
  for (RankSnapshot& snapshot : snapshots) snapshot.state.meetings = 40;
  snapshots[1].state.meetings = 39;
  EXPECT_EQ(TextOf(snapshots),
            "rank 1 never came to where the ranks meet in measure of point 3 and was last seen "
            "10.6 s ago in call 17 (point 3, measure)\n"
            "ranks 0, 2 wait for it, the nearest in call 17 (point 3, measure) for 10.5 s");
}

TEST(DiagnoseTest, NoHangBeforeTheTimeout) {
  EXPECT_EQ(TextOf({At(0, Phase::kCheck, 3, 17, 9.9), At(1, Phase::kCheck, 3, 16, 10.0)}),
            "goes on");
  EXPECT_NE(TextOf({At(0, Phase::kCheck, 3, 17, 9.9), At(1, Phase::kCheck, 3, 16, 10.01)}),
            "goes on");
}

TEST(DiagnoseTest, WaitingLongForASlowRankIsNoHang) {
  // Rank 0 waits for 60 s, but rank 1, which it waits for, moved a second ago.
  EXPECT_EQ(TextOf({At(0, Phase::kMeasure, 3, 900, 60), At(1, Phase::kMeasure, 3, 17, 1)}),
            "goes on");
}

TEST(DiagnoseTest, ARankThatIsAheadCannotHideOneThatIsStuck) {
  const auto diagnosis =
      DiagnoseAll({At(0, Phase::kMeasure, 3, 900, 0.1), At(1, Phase::kMeasure, 3, 17, 11)});
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->text,
            "rank 1 never entered call 18 and was last seen 11.0 s ago in call 17 (point 3, "
            "measure)\n"
            "rank 0 waits for it, in call 900 (point 3, measure) for 0.1 s");
}

// A rank that replays a graph enters all of its calls as one.
RankSnapshot InGraph(RankSnapshot snapshot, std::uint32_t calls) {
  snapshot.state.at_once = calls;
  return snapshot;
}

RankSnapshot InStep(RankSnapshot snapshot, const char* step) {
  snapshot.state.step = step;
  return snapshot;
}

TEST(DiagnoseTest, NamesTheStepThatARankIsIn) {
  std::vector<RankSnapshot> snapshots = {
      At(0, Phase::kSetUp, 0, 0, 11), InStep(At(1, Phase::kSetUp, 0, 0, 12), "cuMulticastBindMem")};
  snapshots[0].state.meetings = 8;
  EXPECT_EQ(TextOf(snapshots),
            "rank 1 never came to where the ranks meet in set-up and was last seen 12.0 s ago in "
            "set-up, in cuMulticastBindMem\n"
            "rank 0 waits for it, in set-up for 11.0 s");
  snapshots[1] = Dead(snapshots[1]);
  EXPECT_EQ(TextOf(snapshots),
            "rank 1 died (process 1001): last seen 12.0 s ago in set-up, in cuMulticastBindMem\n"
            "rank 0 cannot go on without it");
  EXPECT_EQ(TextOf({InStep(At(0, Phase::kAudit, 3, 17, 11), "cuMemUnmap")}),
            "rank 0 is stuck in audit of point 3, after call 17, in cuMemUnmap: it has not moved "
            "for 11.0 s");
}

TEST(DiagnoseTest, TellsTheStepsOfRanksThatAreEquallyFar) {
  std::vector<RankSnapshot> snapshots = {
      InStep(At(0, Phase::kSetUp, 0, 0, 11), "ncclCommInitRank"),
      InStep(At(1, Phase::kSetUp, 0, 0, 11), "ncclCommInitRank")};
  EXPECT_EQ(TextOf(snapshots),
            "ranks 0, 1 are all in set-up, in ncclCommInitRank: none of them has moved for 11.0 s");
  snapshots.push_back(At(2, Phase::kSetUp, 0, 0, 11));
  EXPECT_EQ(TextOf(snapshots),
            "ranks 0-2 are all in set-up (rank 2 in no step, ranks 0, 1 in ncclCommInitRank): none "
            "of them has moved for 11.0 s");
}

TEST(DiagnoseTest, AStepIsASignOfLifeButNotAPlaceInTheOrder) {
  EXPECT_EQ(TextOf({At(0, Phase::kSetUp, 0, 0, 60),
                    InStep(At(1, Phase::kSetUp, 0, 0, 5), "ncclCommInitRank")}),
            "goes on");
  const auto diagnosis = DiagnoseAll(
      {At(0, Phase::kSetUp, 0, 0, 60), InStep(At(1, Phase::kSetUp, 0, 0, 11), "cuMemMap")});
  ASSERT_TRUE(diagnosis);
  EXPECT_THAT(diagnosis->culprits, ElementsAre(0, 1));
}

TEST(DiagnoseTest, SetUpMayTakeLongerThanAShortTimeout) {
  const std::int64_t short_timeout = kSecond;
  const auto hangs = [&](const RankSnapshot& snapshot) {
    return Diagnose(std::vector{snapshot}, kNow, short_timeout, 0).has_value();
  };
  EXPECT_TRUE(hangs(At(0, Phase::kCheck, 0, 0, 1.1)));
  for (const Phase phase : {Phase::kStart, Phase::kSetUp}) {
    EXPECT_FALSE(hangs(At(0, phase, 0, 0, 4.9)));
    EXPECT_TRUE(hangs(At(0, phase, 0, 0, 5.1)));
  }
}

TEST(DiagnoseTest, SaysWhichAlgorithmIsStressed) {
  EXPECT_EQ(TextOf({InGraph(At(0, Phase::kStress, 1, 812, 11), 12),
                    InStep(InGraph(At(1, Phase::kStress, 1, 800, 12), 12), "lamport")}),
            "rank 1 never entered call 801 (stress of algorithm 1) and was last seen 12.0 s ago in "
            "calls 789-800 (stress of algorithm 1), in lamport\n"
            "rank 0 waits for it, in calls 801-812 (stress of algorithm 1) for 11.0 s");
  EXPECT_EQ(Describe(At(0, Phase::kStress, 0, 0, 0).state),
            "in stress of algorithm 0, before its first call");
}

TEST(DiagnoseTest, TheTeardownComesAfterAllPoints) {
  EXPECT_EQ(TextOf({InStep(At(0, Phase::kTearDown, 0, 40, 11), "cuMemUnmap"),
                    At(1, Phase::kAudit, 4, 40, 11)}),
            "rank 1 never came to teardown and was last seen 11.0 s ago in audit of point 4, after "
            "call 40\n"
            "rank 0 waits for it, in teardown, in cuMemUnmap for 11.0 s");
  EXPECT_EQ(TextOf({At(0, Phase::kReport, 0, 40, 11), At(1, Phase::kTearDown, 0, 40, 11)}),
            "rank 1 never came to the report and was last seen 11.0 s ago in teardown\n"
            "rank 0 waits for it, in the report for 11.0 s");
}

TEST(DiagnoseTest, NamesTheFirstCallOfAGraphThatARankNeverEntered) {
  EXPECT_EQ(TextOf({InGraph(At(0, Phase::kMeasure, 3, 117, 10.5), 100),
                    InGraph(At(1, Phase::kMeasure, 3, 17, 11), 10)}),
            "rank 1 never entered call 18 (point 3, measure) and was last seen 11.0 s ago in calls "
            "8-17 (point 3, measure)\n"
            "rank 0 waits for it, in calls 18-117 (point 3, measure) for 10.5 s");
}

TEST(DiagnoseTest, OneOfSeveralFurthestBehindThatMovedLatelyIsNoHang) {
  EXPECT_EQ(TextOf({At(0, Phase::kCheck, 3, 16, 30), At(1, Phase::kCheck, 3, 16, 5),
                    At(2, Phase::kCheck, 3, 17, 40)}),
            "goes on");
}

TEST(DiagnoseTest, NamesSeveralRanksThatAreBehind) {
  const auto diagnosis =
      DiagnoseAll({At(0, Phase::kCheck, 3, 16, 12), At(1, Phase::kCheck, 3, 17, 12),
                   At(2, Phase::kCheck, 3, 16, 11)});
  ASSERT_TRUE(diagnosis);
  EXPECT_THAT(diagnosis->culprits, ElementsAre(0, 2));
  EXPECT_EQ(diagnosis->text,
            "ranks 0, 2 never entered call 17 (point 3, check) and were last seen 11.0 s ago in "
            "call 16 (point 3, check)\n"
            "rank 1 waits for them, in call 17 (point 3, check) for 12.0 s");
}

TEST(DiagnoseTest, SaysWhenAllRanksAreEquallyFar) {
  const auto diagnosis =
      DiagnoseAll({At(0, Phase::kCheck, 3, 17, 10.4), At(1, Phase::kCheck, 3, 17, 10.2),
                   At(2, Phase::kCheck, 3, 17, 10.3)});
  ASSERT_TRUE(diagnosis);
  EXPECT_THAT(diagnosis->culprits, ElementsAre(0, 1, 2));
  EXPECT_THAT(diagnosis->waiting, IsEmpty());
  EXPECT_EQ(diagnosis->text,
            "ranks 0-2 are all in call 17 (point 3, check): none of them has moved for 10.2 s");
  EXPECT_EQ(TextOf({At(0, Phase::kSetUp, 0, 0, 12)}),
            "rank 0 is stuck in set-up: it has not moved for 12.0 s");
}

TEST(DiagnoseTest, APointCountsBeforeAPhase) {
  // Rank 1 is in an earlier phase, but of a later point.
  const auto diagnosis =
      DiagnoseAll({At(0, Phase::kAudit, 3, 40, 11), At(1, Phase::kSetUp, 4, 40, 11)});
  ASSERT_TRUE(diagnosis);
  EXPECT_EQ(diagnosis->text,
            "rank 0 never came to set-up and was last seen 11.0 s ago in audit of point 3, after "
            "call 40\n"
            "rank 1 waits for it, in set-up for 11.0 s");
}

TEST(DiagnoseTest, TheReportIsTheLastPhaseWhateverThePoint) {
  EXPECT_EQ(TextOf({At(0, Phase::kReport, 0, 40, 11), At(1, Phase::kMeasure, 4, 40, 11)}),
            "rank 1 never came to the report and was last seen 11.0 s ago in call 40 (point 4, "
            "measure)\n"
            "rank 0 waits for it, in the report for 11.0 s");
  EXPECT_EQ(TextOf({At(0, Phase::kReport, 0, 40, 11), At(1, Phase::kFinished, 0, 40, 11)}),
            "rank 0 never came to the end of the run and was last seen 11.0 s ago in the report\n"
            "rank 1 waits for it, at the end of the run for 11.0 s");
}

TEST(DiagnoseTest, BeforeTheFirstCall) {
  EXPECT_EQ(TextOf({At(0, Phase::kCheck, 0, 1, 11), At(1, Phase::kCheck, 0, 0, 11)}),
            "rank 1 never entered call 1 (point 0, check) and was last seen 11.0 s ago in check of "
            "point 0, before its first call\n"
            "rank 0 waits for it, in call 1 (point 0, check) for 11.0 s");
  EXPECT_EQ(TextOf({At(0, Phase::kStart, 0, 0, 11), At(1, Phase::kCheck, 0, 0, 11)}),
            "rank 0 never came to check of point 0 and was last seen 11.0 s ago at the start\n"
            "rank 1 waits for it, in check of point 0, before its first call for 11.0 s");
}

TEST(DiagnoseTest, FinishedRanksAreNotWatched) {
  EXPECT_EQ(TextOf({At(0, Phase::kFinished, 0, 40, 60), At(1, Phase::kFinished, 0, 40, 90)}),
            "goes on");
  EXPECT_EQ(TextOf({Dead(At(0, Phase::kFinished, 0, 40, 60)), At(1, Phase::kReport, 0, 40, 1)}),
            "goes on");
}

TEST(DiagnoseTest, ADeadRankIsNamedAtOnce) {
  const auto diagnosis =
      DiagnoseAll({At(0, Phase::kMeasure, 3, 18, 0.1), Dead(At(1, Phase::kMeasure, 3, 17, 0.3)),
                   At(2, Phase::kMeasure, 3, 18, 0.1), At(3, Phase::kFinished, 0, 18, 0.1)});
  ASSERT_TRUE(diagnosis);
  EXPECT_THAT(diagnosis->culprits, ElementsAre(1));
  EXPECT_THAT(diagnosis->waiting, ElementsAre(0, 2));
  EXPECT_EQ(diagnosis->since_ns, kNow - 300'000'000);
  EXPECT_EQ(diagnosis->text,
            "rank 1 died (process 1001): last seen 0.3 s ago in call 17 (point 3, measure)\n"
            "ranks 0, 2 cannot go on without it");
}

TEST(DiagnoseTest, SeveralDeadRanks) {
  EXPECT_EQ(TextOf({At(0, Phase::kReport, 0, 18, 0.1), Dead(At(1, Phase::kSetUp, 0, 0, 2)),
                    Dead(At(2, Phase::kReport, 0, 18, 0.1))}),
            "rank 1 died (process 1001): last seen 2.0 s ago in set-up\n"
            "ranks 1, 2 died\n"
            "rank 0 cannot go on without them");
}

TEST(DiagnoseTest, ADeathExplainsAHang) {
  EXPECT_EQ(TextOf({At(0, Phase::kMeasure, 3, 17, 60), Dead(At(1, Phase::kMeasure, 3, 18, 60))}),
            "rank 1 died (process 1001): last seen 60.0 s ago in call 18 (point 3, measure)\n"
            "rank 0 cannot go on without it");
}

RankSnapshot Stopped(RankSnapshot snapshot) {
  snapshot.stopped = true;
  return snapshot;
}

TEST(DiagnoseTest, AStoppedRankExplainsAHangHoweverFarItHasCome) {
  // Rank 1 waits for rank 2 in vain, which rank 0 does not any more.
  std::vector<RankSnapshot> snapshots = {At(0, Phase::kStress, 0, 18, 11),
                                         At(1, Phase::kStress, 0, 17, 11),
                                         Stopped(At(2, Phase::kStress, 0, 17, 11))};
  const auto diagnosis = DiagnoseAll(snapshots);
  ASSERT_TRUE(diagnosis);
  EXPECT_THAT(diagnosis->culprits, ElementsAre(2));
  EXPECT_THAT(diagnosis->waiting, ElementsAre(0, 1));
  EXPECT_EQ(diagnosis->text,
            "rank 2 is stopped (process 1002): last seen 11.0 s ago in call 17 (stress of "
            "algorithm 0)\n"
            "ranks 0, 1 cannot go on without it");
  snapshots[2].state.calls = 18;
  EXPECT_THAT(DiagnoseAll(snapshots)->culprits, ElementsAre(2));
  snapshots[0] = Stopped(snapshots[0]);
  EXPECT_THAT(TextOf(snapshots), testing::HasSubstr("\nranks 0, 2 are stopped\nrank 1 cannot"));
}

TEST(DiagnoseTest, AStoppedRankIsNoHangBeforeTheTimeoutNorAfterItsEnd) {
  EXPECT_EQ(TextOf({At(0, Phase::kCheck, 3, 17, 9), Stopped(At(1, Phase::kCheck, 3, 17, 9))}),
            "goes on");
  EXPECT_EQ(TextOf({At(0, Phase::kReport, 0, 40, 11), Stopped(At(1, Phase::kFinished, 0, 40, 11))}),
            "rank 0 never came to the end of the run and was last seen 11.0 s ago in the report\n"
            "rank 1 waits for it, at the end of the run for 11.0 s");
}

TEST(DiagnoseTest, NamesPointsAndAlgorithmsWhereTheirNamesAreKnown) {
  std::vector<RankSnapshot> snapshots = {At(0, Phase::kMeasure, 3, 17, 11),
                                         At(1, Phase::kAudit, 2, 12, 11)};
  snapshots[0].state.name = "lamport graph bytes=64";
  snapshots[1].state.name = "mpi graph bytes=16";
  EXPECT_EQ(TextOf(snapshots),
            "rank 1 never entered call 13 and was last seen 11.0 s ago in audit of mpi graph "
            "bytes=16, after call 12\n"
            "rank 0 waits for it, in call 17 (lamport graph bytes=64, measure) for 11.0 s");
  snapshots[0] = At(0, Phase::kStress, 1, 17, 11);
  snapshots[0].state.name = "overlapped";
  EXPECT_EQ(Describe(snapshots[0].state), "in call 17 (stress of overlapped)");
}

TEST(DiagnoseTest, ARankThatNeverArrives) {
  const std::vector<RankSnapshot> snapshots = {At(0, Phase::kStart, 0, 0, 11), NotArrived(1),
                                               At(2, Phase::kStart, 0, 0, 11), NotArrived(3)};
  EXPECT_EQ(TextOf(snapshots, kNow - 9 * kSecond), "goes on");
  EXPECT_EQ(TextOf(snapshots, kNow - 12 * kSecond),
            "ranks 1, 3 never arrived in 12.0 s\n"
            "ranks 0, 2 wait for them");
}

TEST(DiagnoseTest, SilenceCountsFromWhenWatchingBegan) {
  const std::vector<RankSnapshot> snapshots = {At(0, Phase::kCheck, 3, 17, 60)};
  EXPECT_EQ(TextOf(snapshots, kNow - 10 * kSecond), "goes on");
  EXPECT_EQ(TextOf(snapshots, kNow - 11 * kSecond),
            "rank 0 is stuck in call 17 (point 3, check): it has not moved for 60.0 s");
}

}  // namespace
}  // namespace mailbench
