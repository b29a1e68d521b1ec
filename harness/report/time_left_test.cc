#include "harness/report/time_left.h"

#include <gtest/gtest.h>

namespace mailbench {
namespace {

// Four parts of 10, 10, 20 and 60 expected seconds.
WorkDone AtTheStart() {
  WorkDone work;
  work.expected_s = 100;
  work.current_expected_s = 10;
  return work;
}

TEST(TimeLeft, IsWhatWasExpectedAtFirst) {
  EXPECT_DOUBLE_EQ(TimeLeft(AtTheStart()).value(), 100);
  WorkDone work = AtTheStart();
  work.current_taken_s = 4;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 96);
}

TEST(TimeLeft, IsUnknownWhereNothingWasExpected) { EXPECT_FALSE(TimeLeft({}).has_value()); }

// Two of four parts are done, but only a fifth of the work, and it took three times as long.
TEST(TimeLeft, GoesByTheWorkAndNotByTheNumberOfParts) {
  WorkDone work = AtTheStart();
  work.expected_done_s = 20;
  work.taken_s = 60;
  work.current_expected_s = 20;
  const double factor = 62.0 / 22.0;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), factor * 80);
}

TEST(TimeLeft, WorkThatGoesAsExpectedTakesTheRest) {
  WorkDone work = AtTheStart();
  work.expected_done_s = work.taken_s = 20;
  work.current_expected_s = 20;
  work.current_taken_s = 5;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 75);
  work.current_share = 0.25;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 75);
}

TEST(TimeLeft, APartThatTakesTooLongMovesTheRest) {
  WorkDone work = AtTheStart();
  work.expected_done_s = work.taken_s = 20;
  work.current_expected_s = 20;
  work.current_taken_s = 62;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 84.0 / 42.0 * 60) << "as if it ended now";
}

TEST(TimeLeft, AShareSaysHowTheCurrentPartGoes) {
  WorkDone work = AtTheStart();
  work.expected_done_s = work.taken_s = 40;
  work.current_expected_s = 60;
  work.current_taken_s = 60;
  work.current_share = 0.5;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 102.0 / 72.0 * 30);
  work.current_share = 1.5;  // more calls than were expected
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 0);
}

// The first calls of the first part say nothing of the whole yet.
TEST(TimeLeft, AFirstSmallShareDoesNotUpsetIt) {
  WorkDone work = AtTheStart();
  work.current_taken_s = 0.1;
  work.current_share = 0;
  EXPECT_NEAR(TimeLeft(work).value(), 105, 1e-9);
}

TEST(TimeLeft, IsNoneWhenAllIsDone) {
  WorkDone work = AtTheStart();
  work.expected_done_s = 100;
  work.taken_s = 300;
  work.current_expected_s = 0;
  EXPECT_DOUBLE_EQ(TimeLeft(work).value(), 0);
}

}  // namespace
}  // namespace mailbench
