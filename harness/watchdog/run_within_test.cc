#include "harness/watchdog/run_within.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>

namespace mailbench {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{60'000};  // never reached, on a busy machine either

TEST(RunWithinTest, WaitsForTheWork) {
  int done = 0;
  EXPECT_TRUE(RunWithin(kLong, [&] { done = 1; }));
  EXPECT_EQ(done, 1);
}

TEST(RunWithinTest, AnExceptionDidNotGoWell) {
  EXPECT_FALSE(RunWithin(kLong, [] { throw std::runtime_error("no"); }));
  EXPECT_FALSE(RunWithin(kLong, [] { throw 7; }));
}

TEST(RunWithinTest, LeavesBehindWhatDoesNotComeBack) {
  const auto let_go = std::make_shared<std::promise<void>>();
  const auto came_back = std::make_shared<std::promise<void>>();
  EXPECT_FALSE(RunWithin(milliseconds(5), [let_go, came_back] {
    let_go->get_future().wait();
    came_back->set_value();
  }));
  let_go->set_value();
  came_back->get_future().wait();
}

}  // namespace
}  // namespace mailbench
