#include "kernels/machine/adversary/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace mailbench {
namespace {

using Names = std::vector<std::uint32_t>;

// What a strategy chooses, "t3" or "w5", among threads that can run on and words that land once.
std::string Choices(Strategy& strategy, const Names& threads, Names words, int steps) {
  std::string text;
  for (int i = 0; i < steps && !(threads.empty() && words.empty()); ++i) {
    const Step step = strategy.Choose({&threads, &words});
    EXPECT_LT(step.index, step.deliver ? words.size() : threads.size());
    text += (step.deliver ? "w" + std::to_string(words[step.index])
                          : "t" + std::to_string(threads[step.index])) +
            " ";
    if (step.deliver) words.erase(words.begin() + static_cast<std::ptrdiff_t>(step.index));
  }
  return text;
}

std::string Schedule(Strategy& strategy, std::uint64_t number) {
  strategy.Begin(number);
  return Choices(strategy, {0, 1, 2}, {10, 11, 12, 13}, 20);
}

using MakeStrategy = std::unique_ptr<Strategy> (*)(std::uint64_t seed);

class RandomStrategies : public testing::TestWithParam<MakeStrategy> {};

TEST_P(RandomStrategies, RepeatAScheduleFromItsSeedAndNumber) {
  const std::unique_ptr<Strategy> first = GetParam()(5);
  const std::unique_ptr<Strategy> second = GetParam()(5);
  std::vector<std::string> schedules;
  for (std::uint64_t number = 0; number < 50; ++number) {
    schedules.push_back(Schedule(*first, number));
  }
  for (std::uint64_t number = 50; number-- > 0;) {  // in another order
    EXPECT_EQ(Schedule(*second, number), schedules[number]);
  }
}

TEST_P(RandomStrategies, DifferByNumberAndBySeed) {
  std::set<std::string> schedules;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::unique_ptr<Strategy> strategy = GetParam()(seed);
    for (std::uint64_t number = 0; number < 20; ++number) {
      schedules.insert(Schedule(*strategy, number));
    }
  }
  EXPECT_GT(schedules.size(), 60u);  // of 100
}

TEST_P(RandomStrategies, ChooseWhatThereIs) {
  const std::unique_ptr<Strategy> strategy = GetParam()(1);
  for (std::uint64_t number = 0; number < 50; ++number) {
    strategy->Begin(number);
    EXPECT_EQ(Choices(*strategy, {}, {8}, 3), "w8 ");
    EXPECT_EQ(Choices(*strategy, {4}, {}, 3), "t4 t4 t4 ");
  }
}

INSTANTIATE_TEST_SUITE_P(All, RandomStrategies,
                         testing::Values(&MakeUniform, &MakeBiased,
                                         [](std::uint64_t seed) { return MakePct(seed, 20); }));

TEST(Biased, SometimesDeliversNothingWhileThreadsCanRun) {
  const std::unique_ptr<Strategy> strategy = MakeBiased(1);
  int never = 0;
  int often = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    strategy->Begin(number);
    int delivered = 0;
    const Names threads{0, 1};
    const Names words{10, 11};
    for (int i = 0; i < 1000; ++i) {
      delivered += strategy->Choose({&threads, &words}).deliver ? 1 : 0;
    }
    never += delivered == 0 ? 1 : 0;
    often += delivered > 400 ? 1 : 0;
  }
  EXPECT_GT(never, 20);  // a fifth of 200
  EXPECT_LT(never, 70);
  EXPECT_GT(often, 20);
}

// Of two threads the one that runs falls below the other each time.
TEST(Pct, LaterFallsGoLower) {
  const std::unique_ptr<Strategy> strategy = MakePct(1, 1000);
  std::size_t most_changes = 0;
  for (std::uint64_t number = 0; number < 50; ++number) {
    strategy->Begin(number);
    const Names threads{0, 1};
    const Names words;
    std::vector<std::size_t> order;
    for (int i = 0; i < 1000; ++i) {
      const std::size_t thread = strategy->Choose({&threads, &words}).index;
      if (order.empty() || order.back() != thread) order.push_back(thread);
    }
    most_changes = std::max(most_changes, order.size() - 1);
  }
  EXPECT_EQ(most_changes, 3u);
}

TEST(Pct, KeepsToOneOrderButForItsFalls) {
  const std::unique_ptr<Strategy> strategy = MakePct(1, 1000);
  for (std::uint64_t number = 0; number < 100; ++number) {
    strategy->Begin(number);
    const Names threads{0, 1, 2, 3};
    const Names words{10, 11};
    std::size_t last = 99;
    int changes = -1;
    for (int i = 0; i < 1000; ++i) {
      const Step step = strategy->Choose({&threads, &words});
      const std::size_t chosen = step.deliver ? 10 + step.index : step.index;
      changes += chosen != last ? 1 : 0;
      last = chosen;
    }
    EXPECT_LE(changes, 3);
    EXPECT_GE(changes, 1);
  }
}

TEST(Delayed, WithoutDelaysLandsWordsAtOnceAndRunsOneThreadOn) {
  Delayed strategy({});
  strategy.Begin(0);
  EXPECT_EQ(Choices(strategy, {3, 4}, {10, 11}, 5), "w10 w11 t3 t3 t3 ");
  EXPECT_EQ(strategy.steps(), 5u);
}

TEST(Delayed, PutsAWordOffUntilNothingElseCanMove) {
  Delayed strategy({0});
  strategy.Begin(0);
  EXPECT_EQ(Choices(strategy, {3}, {10, 11}, 4), "w11 t3 t3 t3 ");
  EXPECT_EQ(Choices(strategy, {}, {10, 12}, 2), "w12 w10 ");
}

TEST(Delayed, PutsOffTwoAtOneStep) {
  Delayed words({0, 0});
  words.Begin(0);
  EXPECT_EQ(Choices(words, {3}, {10, 11, 12}, 3), "w12 t3 t3 ");
  Delayed threads({0, 0});
  threads.Begin(0);
  EXPECT_EQ(Choices(threads, {3, 4, 5}, {}, 2), "t5 t5 ");
}

TEST(Delayed, PutsAThreadOffBehindAllOthers) {
  Delayed strategy({1});
  strategy.Begin(0);
  EXPECT_EQ(Choices(strategy, {3, 4, 5}, {}, 3), "t3 t4 t4 ");
  EXPECT_EQ(Choices(strategy, {5, 3}, {}, 1), "t5 ");  // 4 waits for something
  EXPECT_EQ(Choices(strategy, {3}, {}, 1), "t3 ");     // and now 5 does
  EXPECT_EQ(Choices(strategy, {3, 4}, {}, 1), "t3 ");  // it ran again: put off no more
}

TEST(Delayed, CountsDelaysByStep) {
  Delayed strategy({0, 1});
  strategy.Begin(0);
  EXPECT_EQ(Choices(strategy, {3}, {10, 11, 12}, 3), "w11 t3 t3 ");
  strategy.Begin(1);  // begins anew
  EXPECT_EQ(Choices(strategy, {3}, {10}, 2), "t3 t3 ");
}

}  // namespace
}  // namespace mailbench
