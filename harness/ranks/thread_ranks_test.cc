#include "harness/ranks/thread_ranks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "harness/error.h"
#include "harness/ranks/rank_and_host.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

using Texts = std::vector<std::string>;

// What `body` returned on each of three ranks.
template <typename Body>
Texts OnThree(ThreadMeeting& meeting, Body&& body) {
  Texts results(3);
  RunThreadRanks(3, meeting, [&](ThreadRanks& ranks) {
    try {
      results[static_cast<std::size_t>(ranks.rank())] = body(ranks);
    } catch (const Error& error) {
      results[static_cast<std::size_t>(ranks.rank())] =
          std::to_string(static_cast<int>(error.code())) + " " + error.what();
    }
  });
  return results;
}

TEST(ThreadRanks, GatherWhatEachBrought) {
  ThreadMeeting meeting(3);
  EXPECT_EQ(OnThree(meeting,
                    [](const Ranks& ranks) {
                      std::string all;
                      for (int round = 0; round < 50; ++round) {
                        ranks.Barrier();
                        for (const double each : ranks.Gather(10.0 * round + ranks.rank())) {
                          all += std::to_string(static_cast<int>(each)) + " ";
                        }
                      }
                      return all.substr(0, 15);
                    }),
            Texts(3, "0 1 2 10 11 12 "));
}

TEST(ThreadRanks, GatherWords) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [](const Ranks& ranks) {
    const auto own = static_cast<std::uint32_t>(ranks.rank());
    const std::array<std::uint32_t, 2> words = {own, own + 7};
    std::array<std::uint32_t, 6> gathered{};
    ranks.GatherWords(words, gathered);
    std::string text;
    for (const std::uint32_t word : gathered) text += std::to_string(word) + " ";
    return text;
  });
  EXPECT_EQ(all, Texts(3, "0 7 1 8 2 9 "));
}

TEST(ThreadRanks, VotesEndAlikeAndMessagesNameTheThread) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [](const Ranks& ranks) {
    ranks.Vote(ExitCode::kMachine, ranks.rank() == 1 ? RankAndHost() : "");
    return std::string("passed");
  });
  EXPECT_EQ(all[1].find("3 rank 1: rank 1 on "), 0u) << all[1];
  EXPECT_EQ(all, Texts(3, all[1]));
}

// The file is rank 0's alone.
TEST(ThreadRanks, AnErrorOfRankZeroNamesItsHostWhereThereAreOthers) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [](ThreadRanks& ranks) {
    ranks.SetHosts({"here", "here", "there"});
    OnRankZero(ranks, [] { throw UsageError("report a exists"); });
    return std::string("passed");
  });
  EXPECT_EQ(all, Texts(3, "2 rank 0 on here: report a exists"));
}

TEST(ThreadRanks, NobodyWaitsOnceSomebodyGaveUp) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [&](const Ranks& ranks) {
    if (ranks.rank() == 2) {
      meeting.GiveUp("rank 2 is late");
      return std::string("late");
    }
    ranks.Barrier();
    return std::string("met");
  });
  EXPECT_EQ(all, (Texts{"4 rank 2 is late", "4 rank 2 is late", "late"}));
}

TEST(ThreadRanks, WhoComesLateAfterSomebodyGaveUpDoesNotMeetAnybody) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [&](const Ranks& ranks) {
    if (ranks.rank() == 2) {
      while (meeting.waiting() < 2) std::this_thread::yield();
      meeting.GiveUp("rank 2 is late");
    }
    ranks.Barrier();
    return std::string("met");
  });
  EXPECT_EQ(all, Texts(3, "4 rank 2 is late"));
}

TEST(ThreadRanks, WhatFollowsAMeetingDoesNotFollowASkippedOne) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [](ThreadRanks& ranks) {
    int after = 0;
    ranks.AfterMeeting([&] { ++after; });
    ranks.SkipMeeting(1, 2);
    std::string text;
    for (int round = 0; round < 4; ++round) {
      ranks.Barrier();
      text += std::to_string(after);
    }
    return text;
  });
  EXPECT_EQ(all, Texts(3, "1112"));
}

TEST(ThreadRanks, ASkippedMeetingIsOneWithItself) {
  ThreadMeeting meeting(3);
  const Texts all = OnThree(meeting, [](ThreadRanks& ranks) {
    ranks.SkipMeeting(1);
    std::string text;
    for (int round = 0; round < 3; ++round) {
      text += std::to_string(static_cast<int>(ranks.Max(ranks.rank())));
    }
    return text;
  });
  EXPECT_EQ(all, (Texts{"202", "212", "222"}));
}

}  // namespace
}  // namespace mailbench
