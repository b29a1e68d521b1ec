#include "harness/watchdog/heartbeat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <string>
#include <vector>

namespace mailbench {
namespace {

TEST(HeartbeatTest, StartsAtTheStartOfTheRun) {
  HeartbeatSlot slot{};
  const std::int64_t before = MonotonicNow();
  const Heartbeat heartbeat(&slot);
  const HeartbeatState state = Read(slot);
  EXPECT_EQ(state.phase, Phase::kStart);
  EXPECT_EQ(state.point, 0U);
  EXPECT_EQ(state.calls, 0U);
  EXPECT_GE(state.since_ns, before);
  EXPECT_LE(state.since_ns, MonotonicNow());
}

TEST(HeartbeatTest, ReadReturnsWhatWasWritten) {
  HeartbeatSlot slot{};
  Heartbeat heartbeat(&slot);
  heartbeat.Enter(Phase::kMeasure, 0xffffffffU);
  heartbeat.CountCall();
  const std::int64_t before = MonotonicNow();
  heartbeat.CountCall();
  const HeartbeatState state = Read(slot);
  EXPECT_EQ(state.phase, Phase::kMeasure);
  EXPECT_EQ(state.point, 0xffffffffU);
  EXPECT_EQ(state.calls, 2U);
  EXPECT_GE(state.since_ns, before);
  EXPECT_EQ(heartbeat.state().calls, 2U);
}

TEST(HeartbeatTest, CallsThatAreEnteredAsOneCountAtOnce) {
  HeartbeatSlot slot{};
  Heartbeat heartbeat(&slot);
  heartbeat.CountCall();
  heartbeat.CountCalls(10'000);
  EXPECT_EQ(Read(slot).calls, 10'001U);
  EXPECT_EQ(Read(slot).at_once, 10'000U);
  heartbeat.CountCall();
  EXPECT_EQ(Read(slot).calls, 10'002U);
  EXPECT_EQ(Read(slot).at_once, 1U);
}

TEST(HeartbeatTest, TheObserverSeesEachChangeAfterItIsPublished) {
  HeartbeatSlot slot{};
  std::vector<std::string> seen;
  Heartbeat heartbeat(&slot, [&](const HeartbeatState& state) {
    EXPECT_EQ(Read(slot).calls, state.calls);
    EXPECT_EQ(Read(slot).phase, state.phase);
    seen.push_back(std::string(ToString(state.phase)) + " " + std::to_string(state.point) + " " +
                   std::to_string(state.calls));
  });
  heartbeat.Enter(Phase::kSetUp, 0);
  heartbeat.Enter(Phase::kCheck, 1);
  heartbeat.CountCall();
  EXPECT_THAT(seen, testing::ElementsAre("set-up 0 0", "check 1 0", "check 1 1"));
}

TEST(HeartbeatTest, ShowsTheStepsOfItsThread) {
  HeartbeatSlot slot{};
  std::vector<std::string> seen;
  {
    Heartbeat heartbeat(&slot, [&](const HeartbeatState& state) { seen.push_back(state.step); });
    EXPECT_EQ(Read(slot).step, "");
    const std::int64_t before = MonotonicNow();
    {
      const Step outer("the exchange of file descriptors");
      EXPECT_EQ(Read(slot).step, "the exchange of file descriptors");
      EXPECT_GE(Read(slot).since_ns, before);
      const std::int64_t inside = MonotonicNow();
      {
        const Step inner("cuMemMap");
        EXPECT_EQ(Read(slot).step, "cuMemMap");
        EXPECT_GE(Read(slot).since_ns, inside);
        heartbeat.CountMeeting();
        EXPECT_EQ(Read(slot).step, "cuMemMap");
      }
      const std::int64_t left = MonotonicNow();
      EXPECT_EQ(Read(slot).step, "the exchange of file descriptors");
      EXPECT_LE(Read(slot).since_ns, left);
      EXPECT_GT(Read(slot).since_ns, inside);
    }
    EXPECT_EQ(Read(slot).step, "");
    EXPECT_EQ(heartbeat.state().since_ns, Read(slot).since_ns);
  }
  EXPECT_THAT(seen, testing::ElementsAre("the exchange of file descriptors", "cuMemMap", "cuMemMap",
                                         "the exchange of file descriptors", ""));
  const Step unheard("cuMemUnmap");
  EXPECT_EQ(Read(slot).step, "");
}

TEST(HeartbeatTest, ALongStepIsCut) {
  HeartbeatSlot slot{};
  const Heartbeat heartbeat(&slot);
  const std::string longest(47, 'x');
  const Step whole(longest.c_str());
  EXPECT_EQ(Read(slot).step, longest);
  const std::string longer = longest + "yz";
  const Step cut(longer.c_str());
  EXPECT_EQ(Read(slot).step, longest);
}

// A new value with an old time would make a rank that just moved look silent. Two threads hardly
// ever meet the gap between two stores, so a child is looked at after each of its instructions.
TEST(HeartbeatTest, AReaderNeverSeesANewValueWithAnOldTime) {
  void* memory = mmap(nullptr, sizeof(HeartbeatSlot), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* slot = new (memory) HeartbeatSlot{};
  const pid_t child = fork();
  if (child == 0) {
    Heartbeat heartbeat(slot);
    const bool traced = ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0;
    raise(traced ? SIGSTOP : SIGKILL);
    heartbeat.CountCall();
    heartbeat.Enter(Phase::kCheck, 3);
    { const Step step("cuInit"); }  // in one word: never torn
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) {
    munmap(memory, sizeof(HeartbeatSlot));
    GTEST_SKIP() << "this system does not let a process trace its child";
  }
  const HeartbeatState start = Read(*slot);
  HeartbeatState last = start;
  int changes = 0;
  while (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const HeartbeatState state = Read(*slot);
    if (state.calls != last.calls || state.phase != last.phase || state.step != last.step) {
      ++changes;
      // The time was stored since the change before.
      EXPECT_GT(state.since_ns, start.since_ns);
      EXPECT_TRUE(changes == 1 || state.since_ns > last.since_ns);
      last = state;
    }
  }
  EXPECT_EQ(changes, 4);
  EXPECT_TRUE(WIFEXITED(status));
  munmap(memory, sizeof(HeartbeatSlot));
}

}  // namespace
}  // namespace mailbench
