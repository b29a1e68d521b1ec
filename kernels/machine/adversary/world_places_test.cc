// Who takes the places for CTAs where they are scarce: whoever the strategy likes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/machine/adversary/adversary_machine.h"
#include "kernels/machine/adversary/world.h"

namespace mailbench {
namespace {

std::vector<Event> TraceOf(World& world, Strategy& strategy, std::uint64_t number = 0) {
  strategy.Begin(number);
  std::vector<Event> trace;
  const ScheduleResult result = world.Run(strategy, &trace);
  EXPECT_FALSE(result.violation) << result.violation->text;
  return trace;
}

// "0:call 0, CTA 0 1:call 0, CTA 0 ": rank and CTA in the order in which they took places.
std::string Takers(const std::vector<Event>& trace) {
  std::string text;
  for (const Event& event : trace) {
    if (!event.text.ends_with(kTakesPlace)) continue;
    text += std::to_string(event.rank) + ":" +
            event.text.substr(0, event.text.size() - std::string(kTakesPlace).size()) + " ";
  }
  return text;
}

int FirstRank(const std::vector<Event>& trace) { return Takers(trace).front() - '0'; }

// Every rank makes a call of so many CTAs, of two threads each.
void AddCalls(World& world, int ctas) {
  for (int rank = 0; rank < world.ranks(); ++rank) {
    world.AddLaunch(rank, 0, "call 0", {ctas, 2}, 0, [](AdversaryThread& thread) {
      thread.Step();
      AdversaryMachine(thread).cta_barrier();
    });
  }
}

TEST(WorldPlaces, EveryRankCanBeFirstOnASharedGpu) {
  World world(3, {.resident_ctas = 1, .shared_gpu = true});
  AddCalls(world, 1);
  std::vector<std::unique_ptr<Strategy>> strategies;
  strategies.push_back(MakeUniform(1));
  strategies.push_back(MakeBiased(1));
  strategies.push_back(MakePct(1, 20));
  for (const auto& strategy : strategies) {
    std::set<int> first;
    for (std::uint64_t number = 0; number < 50; ++number) {
      first.insert(FirstRank(TraceOf(world, *strategy, number)));
    }
    EXPECT_EQ(first, (std::set<int>{0, 1, 2}));
  }
}

TEST(WorldPlaces, OneDelayGivesAPlaceToTheNextRank) {
  World world(2, {.resident_ctas = 1, .shared_gpu = true});
  AddCalls(world, 1);
  Delayed undelayed({});
  EXPECT_EQ(Takers(TraceOf(world, undelayed)), "0:call 0, CTA 0 1:call 0, CTA 0 ");
  Delayed delayed({0});
  EXPECT_EQ(Takers(TraceOf(world, delayed)), "1:call 0, CTA 0 0:call 0, CTA 0 ");
}

// The machine may wait for a launch that its host is late with.
TEST(WorldPlaces, APlaceMayStayFreeForACtaThatMayNotStartYet) {
  World world(2, {.resident_ctas = 2, .shared_gpu = true});
  for (const char* name : {"call 0", "call 1"}) {
    world.AddLaunch(0, 0, name, {1, 1}, 0, [](AdversaryThread& thread) { thread.Step(); });
  }
  world.AddLaunch(1, 0, "call 0", {1, 1}, 0, [](AdversaryThread& thread) { thread.Step(); });
  const std::unique_ptr<Strategy> uniform = MakeUniform(1);
  std::set<std::string> orders;
  for (std::uint64_t number = 0; number < 100; ++number) {
    orders.insert(Takers(TraceOf(world, *uniform, number)));
  }
  EXPECT_TRUE(orders.contains("0:call 0, CTA 0 0:call 1, CTA 0 1:call 0, CTA 0 "));
  EXPECT_EQ(orders.size(), 3u);
}

TEST(WorldPlaces, CtasOfALaunchStartInTheOrderOfTheirIndex) {
  for (const int limit : {1, 2, 3}) {
    World world(2, {.resident_ctas = limit, .shared_gpu = true});
    AddCalls(world, 3);
    const std::unique_ptr<Strategy> uniform = MakeUniform(1);
    for (std::uint64_t number = 0; number < 50; ++number) {
      const std::string takers = Takers(TraceOf(world, *uniform, number));
      for (const char* rank : {"0:call 0, CTA ", "1:call 0, CTA "}) {
        std::string ctas;
        for (std::size_t at = 0; (at = takers.find(rank, at)) != std::string::npos; ++at) {
          ctas += takers[at + std::string(rank).size()];
        }
        EXPECT_EQ(ctas, "012") << takers;
      }
    }
  }
}

TEST(WorldPlaces, AreNeverMoreThanTheLimit) {
  for (const bool shared : {false, true}) {
    constexpr int kLimit = 2;
    World world(2, {.resident_ctas = kLimit, .shared_gpu = shared});
    int resident[2] = {};
    int most_of_a_rank = 0;
    int most = 0;
    for (int rank = 0; rank < 2; ++rank) {
      world.AddLaunch(rank, 0, "call 0", {3, 1}, 0, [&, rank](AdversaryThread& thread) {
        ++resident[rank];
        most_of_a_rank = std::max(most_of_a_rank, resident[rank]);
        most = std::max(most, resident[0] + resident[1]);
        thread.Step();
        --resident[rank];
      });
    }
    const std::unique_ptr<Strategy> uniform = MakeUniform(1);
    for (std::uint64_t number = 0; number < 100; ++number) TraceOf(world, *uniform, number);
    EXPECT_EQ(most_of_a_rank, kLimit);
    EXPECT_EQ(most, shared ? kLimit : 2 * kLimit);
  }
}

// Two streams of one rank compete as two ranks do.
TEST(WorldPlaces, StreamsOfARankCompeteForItsPlaces) {
  World world(1, {.resident_ctas = 1});
  for (const int stream : {0, 1}) {
    world.AddLaunch(0, stream, "call " + std::to_string(stream), {1, 1}, 0,
                    [](AdversaryThread& thread) { thread.Step(); });
  }
  Delayed delayed({0});
  EXPECT_EQ(Takers(TraceOf(world, delayed)), "0:call 1, CTA 0 0:call 0, CTA 0 ");
}

TEST(WorldPlaces, ACtaRunsOnOnceItHasTakenOne) {
  World world(2, {.resident_ctas = 2, .shared_gpu = true});
  for (const int rank : {0, 1}) {
    world.AddLaunch(rank, 0, "call 0", {1, 1}, 0, [](AdversaryThread& thread) { thread.Step(); });
  }
  Delayed undelayed({});
  std::vector<int> ranks;
  for (const Event& event : TraceOf(world, undelayed)) ranks.push_back(event.rank);
  EXPECT_EQ(ranks, (std::vector<int>{0, 0, 1, 1}));  // each takes a place and completes
}

TEST(WorldPlaces, AreFreeAgainAfterAScheduleThatEndedEarly) {
  World world(2, {.resident_ctas = 2, .shared_gpu = true});
  bool throws = true;
  for (int rank = 0; rank < 2; ++rank) {
    world.AddLaunch(rank, 0, "call 0", {2, 1}, 0, [&](AdversaryThread& thread) {
      thread.Step();
      if (throws) throw std::logic_error("broken kernel");
    });
  }
  Delayed undelayed({});
  EXPECT_THROW(world.Run(undelayed), std::logic_error);
  throws = false;
  EXPECT_EQ(Takers(TraceOf(world, undelayed)),
            "0:call 0, CTA 0 1:call 0, CTA 0 0:call 0, CTA 1 1:call 0, CTA 1 ");
}

TEST(WorldPlaces, OneScheduleHasOneTrace) {
  World world(2, {.resident_ctas = 2, .shared_gpu = true});
  AddCalls(world, 3);
  const std::unique_ptr<Strategy> biased = MakeBiased(3);
  std::vector<std::string> traces;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t number = 0; number < 20; ++number) {
      std::string text;
      for (const Event& event : TraceOf(world, *biased, number)) {
        text += std::to_string(event.step) + " " + std::to_string(event.rank) + event.text + "\n";
      }
      if (round == 0) traces.push_back(text);
      EXPECT_EQ(text, traces[number]);
    }
  }
}

TEST(WorldPlaces, WithoutALimitNobodyTakesAny) {
  World world(2, {});
  AddCalls(world, 2);
  Delayed undelayed({});
  EXPECT_EQ(Takers(TraceOf(world, undelayed)), "");
}

}  // namespace
}  // namespace mailbench
