#include "harness/report/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/report/test_terminal.h"

namespace mailbench {
namespace {

const std::string kErased = "\r\x1b[K";

// What can be read now.
std::string Drain(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::array<char, 4096> text{};
  const ssize_t size = read(fd, text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
}

// A clock that the test moves, and no thread. What is written goes to a pipe, which hands it over
// at once; the terminal says how wide it is.
class ProgressTest : public testing::Test {
 protected:
  ProgressTest() {
    int ends[2];
    if (pipe(ends) != 0) return;
    reader_ = FileDescriptor(ends[0]);
    writer_ = FileDescriptor(ends[1]);
  }

  ProgressTimes Times() {
    return {.now_s = [this] { return now_s_; }, .redraw_every = std::chrono::milliseconds(0)};
  }
  Screen OnTerminal() { return {writer_.get(), terminal_.Open()}; }
  Screen InLog() { return {writer_.get(), FileDescriptor()}; }
  std::string Written() { return Drain(reader_.get()); }

  double now_s_ = 1000;
  TestTerminal terminal_{80};
  FileDescriptor reader_;
  FileDescriptor writer_;
};

TEST(FormatProgress, SaysWhatIsDoneAndLeft) {
  EXPECT_EQ(FormatProgress({3, 24, 12, 40, "lamport graph bytes=1024, 45 %"}),
            "[3/24] 12 s, about 40 s left: lamport graph bytes=1024, 45 %");
  EXPECT_EQ(FormatProgress({3, 24, 200, std::nullopt, "pct"}), "[3/24] 3 min 20 s: pct");
  EXPECT_EQ(FormatProgress({3, 24, 0, std::nullopt, ""}), "[3/24] 0.0 s");
}

TEST_F(ProgressTest, IsOneLineThatIsErasedBeforeARow) {
  Progress progress(OnTerminal(), {2, 8}, Times());
  EXPECT_EQ(Written(), "");
  progress.Begin({"a"});
  EXPECT_EQ(Written(), kErased + "[0/2] 0.0 s, about 10 s left: a");
  now_s_ += 4;
  progress.Tick();
  // Twice as long as expected, if it ended now: the other 8 s take nearly twice as long, too.
  EXPECT_EQ(Written(), kErased + "[0/2] 4.0 s, about 15 s left: a");
  progress.End();
  EXPECT_EQ(Written(), kErased);
  progress.Tick();
  EXPECT_EQ(Written(), "") << "between parts the line is free";
  progress.Begin({"b"});
  EXPECT_EQ(Written(), kErased + "[1/2] 4.0 s, about 15 s left: b");
}

TEST_F(ProgressTest, ShowsHowFarAPartIs) {
  double share = 0;
  std::string detail;
  Progress progress(OnTerminal(), {10, 10}, Times());
  progress.Begin({"a", [&] { return share; }});
  EXPECT_EQ(Written(), kErased + "[0/2] 0.0 s, about 20 s left: a, 0 %");
  now_s_ += 5;
  share = 0.5;
  progress.Tick();
  EXPECT_EQ(Written(), kErased + "[0/2] 5.0 s, about 15 s left: a, 50 %");
  share = 1.7;
  progress.Tick();
  EXPECT_EQ(Written(), kErased + "[0/2] 5.0 s, about 5.2 s left: a, 100 %");
  progress.End();
  now_s_ += 1;
  progress.Begin({"b", nullptr, [&] { return detail; }});
  Written();
  detail = "7 calls";
  progress.Note("2 wrong");
  EXPECT_EQ(Written(), kErased + "[1/2] 6.0 s, about 5.2 s left: b, 7 calls, 2 wrong");
  progress.End();
}

TEST_F(ProgressTest, WhatAnEarlierRunHasDoneTakesNoTime) {
  Progress progress(OnTerminal(), {100, 10, 10}, Times());
  progress.Skip();
  progress.Begin({"b"});
  EXPECT_EQ(Written(), kErased + "[1/3] 0.0 s, about 20 s left: b");
  now_s_ += 5;
  progress.End();
  progress.Begin({"c"});
  EXPECT_EQ(Written(), kErased + kErased + "[2/3] 5.0 s, about 5.2 s left: c");
}

TEST_F(ProgressTest, SaysNothingOfTheTimeLeftWhereNothingIsExpected) {
  Progress progress(OnTerminal(), {0, 0}, Times());
  progress.Begin({"a"});
  EXPECT_EQ(Written(), kErased + "[0/2] 0.0 s: a");
}

TEST_F(ProgressTest, IsCutToTheWidthOfTheTerminal) {
  Progress progress(OnTerminal(), {0}, Times());
  terminal_.Resize(10);
  progress.Begin({"a"});
  EXPECT_EQ(Written(), kErased + "[0/1] 0.0");
  terminal_.Resize(12);
  progress.Tick();
  EXPECT_EQ(Written(), kErased + "[0/1] 0.0 s");
}

TEST_F(ProgressTest, IsErasedInTheEnd) {
  {
    Progress progress(OnTerminal(), {0}, Times());
    progress.Begin({"a"});
    Written();
  }
  EXPECT_EQ(Written(), kErased);
}

TEST_F(ProgressTest, IsALineAMinuteInALog) {
  Progress progress(InLog(), {60, 60}, Times());
  progress.Begin({"a"});
  for (int second = 0; second < 59; ++second) {
    now_s_ += 1;
    progress.Tick();
  }
  progress.Note("1 wrong");
  EXPECT_EQ(Written(), "");
  now_s_ += 1;
  progress.Tick();
  EXPECT_EQ(Written(), "# [0/2] 1 min 00 s, about 1 min 00 s left: a, 1 wrong\n");
  progress.End();
  progress.Begin({"b"});
  now_s_ += 59;
  progress.Tick();
  EXPECT_EQ(Written(), "");
  now_s_ += 600;
  progress.Tick();
  progress.Tick();
  EXPECT_EQ(Written(), "# [1/2] 11 min 59 s, about 0.0 s left: b\n") << "once, however late";
}

TEST_F(ProgressTest, ShortWorkLeavesNothingInALog) {
  {
    Progress progress(InLog(), {1, 1}, Times());
    progress.Begin({"a"});
    progress.Tick();
    progress.End();
    progress.Begin({"b"});
  }
  EXPECT_EQ(Written(), "");
}

TEST_F(ProgressTest, IsSilentForGoodOnceTheRunEnds) {
  StopShowingProgress();
  Progress progress(OnTerminal(), {0, 0}, Times());
  progress.Begin({"a"});
  Written();
  std::thread(StopShowingProgress).join();
  EXPECT_EQ(Written(), kErased);
  progress.Tick();
  progress.Note("more");
  progress.End();
  progress.Begin({"b"});
  EXPECT_EQ(Written(), "");
}

TEST_F(ProgressTest, IsSilentInALogTooOnceTheRunEnds) {
  Progress progress(InLog(), {0}, Times());
  progress.Begin({"a"});
  StopShowingProgress();
  now_s_ += 600;
  progress.Tick();
  EXPECT_EQ(Written(), "");
}

// With the thread that every run has: a part that takes long is redrawn though nobody calls.
TEST_F(ProgressTest, RedrawsByItself) {
  std::atomic<int> asked{0};
  Progress progress(OnTerminal(), {0},
                    {.now_s = nullptr, .redraw_every = std::chrono::milliseconds(1)});
  progress.Begin({"a", nullptr, [&] { return std::to_string(++asked); }});
  while (asked < 3) std::this_thread::yield();
  progress.End();
  EXPECT_NE(Written().find(": a, 3"), std::string::npos);
}

}  // namespace
}  // namespace mailbench
