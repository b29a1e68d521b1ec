// Each test changes what the process does with signals: in a child of its own.
#include "harness/watchdog/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLong{20'000};
constexpr std::chrono::milliseconds kShort{20};

// Leaves with 0 when true, otherwise with 1.
[[noreturn]] void LeaveWith(bool right) { std::exit(right ? 0 : 1); }

TEST(SignalsTest, WaitsTakeEachOfTheThree) {
  EXPECT_EXIT(
      {
        BlockSignals();
        bool right = WaitForSignal(kShort) == 0;
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
          kill(getpid(), signal);
          right = right && WaitForSignal(kLong) == signal && WaitForSignal(kShort) == 0;
        }
        LeaveWith(right);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SignalsTest, AreBlockedInLaterThreadsToo) {
  EXPECT_EXIT(
      {
        BlockSignals();
        bool right = false;
        std::thread([&right] {
          raise(SIGTERM);  // to this thread alone: ends the process unless it is blocked
          right = WaitForSignal(kLong) == SIGTERM;
        }).join();
        LeaveWith(right);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SignalsTest, WhatTheParentIgnoresStaysIgnored) {
  EXPECT_EXIT(
      {
        signal(SIGHUP, SIG_IGN);
        BlockSignals();
        raise(SIGHUP);
        LeaveWith(WaitForSignal(kShort) == 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SignalsTest, WritingToAClosedPipeIsAnError) {
  EXPECT_EXIT(
      {
        BlockSignals();
        int ends[2] = {};
        bool right = pipe(ends) == 0;
        close(ends[0]);
        right = right && write(ends[1], "x", 1) == -1;
        LeaveWith(right);
      },
      testing::ExitedWithCode(0), "");
}

TEST(SignalsTest, HaveNames) {
  EXPECT_EQ(std::string(SignalName(SIGTERM)), "SIGTERM");
  EXPECT_EQ(std::string(SignalName(SIGINT)), "SIGINT");
  EXPECT_EQ(std::string(SignalName(SIGHUP)), "SIGHUP");
}

}  // namespace
}  // namespace mailbench
