// Boards in this process's own memory; other ranks are forked children that end or stop.
#include "harness/watchdog/board_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "harness/watchdog/process.h"

namespace mailbench {
namespace {

// A child that waits until it is killed. Reap: takes it away for good; until then a killed child
// is a zombie.
class Child {
 public:
  Child() : pid_(fork()) {
    while (pid_ == 0) {
      pause();
    }
  }
  ~Child() {
    Kill();
    Reap();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void Kill() {
    if (!reaped_) {
      kill(pid_, SIGKILL);
      siginfo_t info;
      waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
    }
  }
  void Stop() {
    kill(pid_, SIGSTOP);
    int status = 0;
    waitpid(pid_, &status, WUNTRACED);
  }
  void Reap() {
    if (!reaped_) {
      waitpid(pid_, nullptr, 0);
      reaped_ = true;
    }
  }

 private:
  pid_t pid_;
  bool reaped_ = false;
};

class BoardViewTest : public testing::Test {
 protected:
  BoardViewTest() { ClearBoard(&control_, slots_); }
  BoardView View(std::size_t own) { return {&control_, slots_, {4, 5, 7}, own}; }
  void ArriveAs(std::size_t slot, pid_t pid) {
    Arrive(&slots_[slot]);
    slots_[slot].pid.store(pid);
  }

  ControlBlock control_;
  std::vector<HeartbeatSlot> slots_{3};
};

TEST(ProcessTest, TellsTheLivingFromTheDead) {
  Child child;
  EXPECT_TRUE(ProcessIsAlive(getpid()));
  EXPECT_TRUE(ProcessIsAlive(child.pid()));
  child.Stop();
  EXPECT_TRUE(ProcessIsAlive(child.pid()));
  child.Kill();
  EXPECT_FALSE(ProcessIsAlive(child.pid())) << "a zombie";
  child.Reap();
  EXPECT_FALSE(ProcessIsAlive(child.pid())) << "gone";
}

TEST_F(BoardViewTest, SnapshotsNameTheRanksAndWhatTheyDo) {
  Child child;
  ArriveAs(0, getpid());
  ArriveAs(1, child.pid());
  Heartbeat heartbeat(&slots_[1]);
  heartbeat.Enter(Phase::kCheck, 3);
  heartbeat.CountCall();
  child.Kill();
  const std::vector<RankSnapshot> snapshots = TakeSnapshots(View(0), Liveness::kAllRanks);
  ASSERT_EQ(snapshots.size(), 3U);
  EXPECT_EQ(snapshots[0].rank, 4);
  EXPECT_EQ(snapshots[0].pid, getpid());
  EXPECT_TRUE(snapshots[0].alive);
  EXPECT_EQ(snapshots[1].rank, 5);
  EXPECT_FALSE(snapshots[1].alive);
  EXPECT_EQ(snapshots[1].state.phase, Phase::kCheck);
  EXPECT_EQ(snapshots[1].state.point, 3U);
  EXPECT_EQ(snapshots[1].state.calls, 1U);
  EXPECT_EQ(snapshots[2].rank, 7);
  EXPECT_EQ(snapshots[2].pid, 0);
  EXPECT_TRUE(snapshots[2].alive);
}

TEST_F(BoardViewTest, ASnapshotCanAskForTheNextRankOnly) {
  Child child;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) ArriveAs(slot, child.pid());
  child.Kill();
  const auto alive = [&](std::size_t own) {
    std::vector<bool> result;
    for (const RankSnapshot& snapshot : TakeSnapshots(View(own), Liveness::kNextRank)) {
      result.push_back(snapshot.alive);
    }
    return result;
  };
  EXPECT_EQ(alive(0), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(alive(2), (std::vector<bool>{false, true, true}));
}

TEST_F(BoardViewTest, AProcessOfAnotherPidNamespaceIsTakenToBeAlive) {
  Child child;
  ArriveAs(0, child.pid());
  child.Kill();
  EXPECT_FALSE(OwnerIsAlive(slots_[0]));
  slots_[0].pid_namespace.store(OwnPidNamespace() + 1);
  EXPECT_TRUE(OwnerIsAlive(slots_[0]));
}

TEST_F(BoardViewTest, OneRankClaimsAndTheOthersDoNot) {
  ArriveAs(0, getpid());
  ArriveAs(1, getpid());
  EXPECT_FALSE(IsClaimed(View(0)));
  const ClaimResult first = TryClaim(View(1));
  EXPECT_TRUE(first.claimed);
  EXPECT_FALSE(first.dead_rank);
  EXPECT_TRUE(IsClaimed(View(0)));
  EXPECT_FALSE(TryClaim(View(0)).claimed);
}

TEST_F(BoardViewTest, OneOfManyThatClaimAtOnceWins) {
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    ArriveAs(slot, getpid());
  }
  for (int round = 0; round < 200; ++round) {
    ClearBoard(&control_, {});
    std::atomic<int> claims{0};
    std::vector<std::thread> threads;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      threads.emplace_back([&, slot] { claims += TryClaim(View(slot)).claimed ? 1 : 0; });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    ASSERT_EQ(claims, 1);
  }
}

TEST_F(BoardViewTest, TheClaimOfADeadRankIsTakenOver) {
  Child child;
  ArriveAs(0, getpid());
  ArriveAs(2, child.pid());
  ASSERT_TRUE(TryClaim(View(2)).claimed);
  SayEnding(View(2), ExitCode::kFailed, "the disk is full");
  EXPECT_FALSE(TryClaim(View(0)).claimed);
  child.Kill();
  const ClaimResult result = TryClaim(View(0));
  EXPECT_TRUE(result.claimed);
  EXPECT_EQ(result.dead_rank, 7);
  EXPECT_EQ(SaidReason(View(0)), "the disk is full");
  EXPECT_FALSE(TryClaim(View(1)).claimed);
}

TEST_F(BoardViewTest, TheClaimOfARankThatIsDoneIsNotTakenOver) {
  Child child;
  ArriveAs(2, child.pid());
  ASSERT_TRUE(TryClaim(View(2)).claimed);
  MarkEnded(View(2));
  child.Kill();
  EXPECT_FALSE(TryClaim(View(0)).claimed);
  EXPECT_TRUE(HasEnded(View(0)));
}

TEST_F(BoardViewTest, AllAreReadyToLeaveWhenTheLivingOnesAre) {
  Child child;
  ArriveAs(0, getpid());
  ArriveAs(1, getpid());
  ArriveAs(2, child.pid());
  MarkReadyToLeave(View(0));
  MarkReadyToLeave(View(1));
  EXPECT_FALSE(AllReadyToLeave(View(0)));
  child.Kill();
  EXPECT_TRUE(AllReadyToLeave(View(0)));
}

TEST_F(BoardViewTest, AnEndingIsSaidOnce) {
  EXPECT_FALSE(SaidCode(View(0)));
  EXPECT_EQ(SaidReason(View(0)), "");
  EXPECT_FALSE(HasEnded(View(0)));
  SayEnding(View(1), ExitCode::kHung, std::string(5000, 'x'));
  EXPECT_EQ(SaidCode(View(0)), ExitCode::kHung);
  EXPECT_EQ(SaidReason(View(0)), std::string(sizeof(control_.reason) - 1, 'x'));
}

}  // namespace
}  // namespace mailbench
