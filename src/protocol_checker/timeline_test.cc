#include "src/protocol_checker/timeline.h"

#include <gtest/gtest.h>

namespace mailbench {
namespace {

std::vector<Event> Trace() {
  return {{1, 0, "publishes to rank 1's mailbox, slot of rank 0, pack 1"},
          {2, 1, "0x00000007 of rank 0 lands in rank 1's mailbox, slot of rank 0, pack 1, word 2"},
          {3, 1, "looks at rank 1's mailbox, slot of rank 0, pack 12"},
          {4, 0, "0x00000007 of rank 0 lands in rank 0's mailbox, slot of rank 0, pack 1, word 2"},
          {5, 1, "takes 0x00000007 as a result"},
          {6, 1, "resets rank 1's mailbox, slot of rank 0, pack 1"},
          {7, 0, "call 0 has completed"},
          {8, 1, "call 1, CTA 0 takes a place"}};
}

std::vector<std::uint64_t> Steps(const std::vector<Event>& events) {
  std::vector<std::uint64_t> steps;
  for (const Event& event : events) steps.push_back(event.step);
  return steps;
}

TEST(TimelineTest, EventsOfTheSlotAreInQuestion) {
  Violation violation;
  violation.place = "rank 1's mailbox, slot of rank 0, pack 1, word 0";
  EXPECT_EQ(Steps(EventsInQuestion(Trace(), violation)),
            (std::vector<std::uint64_t>{1, 2, 6, 7, 8}));
}

TEST(TimelineTest, OfAWrongResultThoseOfTheWordThatShouldHaveBeenThere) {
  Violation violation;
  violation.wanted = 7;
  violation.rank = 1;
  EXPECT_EQ(Steps(EventsInQuestion(Trace(), violation)),
            (std::vector<std::uint64_t>{1, 2, 4, 5, 6, 7, 8}));
}

TEST(TimelineTest, AllAreWhereNothingTells) {
  Violation violation;
  EXPECT_EQ(EventsInQuestion(Trace(), violation).size(), Trace().size());
  violation.wanted = 8;  // never landed
  EXPECT_EQ(EventsInQuestion(Trace(), violation).size(), Trace().size());
}

TEST(TimelineTest, ALineAnEvent) {
  EXPECT_EQ(TimelineText({{12, 0, "a"}, {1234567, 2, "b"}}),
            "     12  rank 0: a\n1234567          rank 2: b\n");
}

TEST(TimelineTest, TheLastOnesWhereThereAreTooMany) {
  EXPECT_EQ(ShortTimelineText({{1, 0, "a"}, {2, 0, "b"}, {3, 0, "c"}}, 2),
            "         ... 1 more before\n      2  rank 0: b\n      3  rank 0: c\n");
}

}  // namespace
}  // namespace mailbench
