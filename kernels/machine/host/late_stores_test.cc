#include "kernels/machine/host/late_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/machine/host/host_machine.h"
#include "kernels/machine/host/stream.h"

namespace mailbench {
namespace {

constexpr Pack kOnes{{1, 1, 1, 1}};

std::uint32_t Sum(const Pack& pack) {
  return pack.word[0] + pack.word[1] + pack.word[2] + pack.word[3];
}

// After how many steps each word of `packs` stores of ones has landed.
std::vector<std::uint64_t> Latenesses(std::uint64_t seed, std::size_t packs) {
  LateStores late(seed);
  std::vector<Pack> memory(packs);
  for (Pack& pack : memory) late.Store(&pack, kOnes);
  std::vector<std::uint64_t> steps(packs * kPackWords, UINT64_MAX);
  for (std::uint64_t step = 0; step <= LateStores::kMostSteps; ++step) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool landed = memory[i / kPackWords].word[i % kPackWords] == 1;
      if (landed && steps[i] == UINT64_MAX) steps[i] = step;
    }
    late.Step();
  }
  EXPECT_EQ(late.on_their_way(), 0u);
  return steps;
}

TEST(LateStores, MostWordsLandWithinAFewStepsAndSomeMuchLater) {
  const std::vector<std::uint64_t> steps = Latenesses(1, 4096);
  const auto few = std::count_if(steps.begin(), steps.end(),
                                 [](std::uint64_t s) { return s <= LateStores::kFewSteps; });
  const auto count = static_cast<double>(steps.size());
  EXPECT_GT(static_cast<double>(few), 0.9 * count);
  EXPECT_LT(few, static_cast<std::ptrdiff_t>(steps.size()));
  EXPECT_LE(*std::max_element(steps.begin(), steps.end()), LateStores::kMostSteps);
  EXPECT_GT(*std::max_element(steps.begin(), steps.end()), LateStores::kMostSteps / 2);
  for (std::uint64_t late = 0; late <= LateStores::kFewSteps; ++late) {
    EXPECT_GT(static_cast<double>(std::count(steps.begin(), steps.end(), late)), 0.1 * count);
  }
}

TEST(LateStores, APackIsSeenTorn) {
  LateStores late(2);
  int torn = 0;
  for (int i = 0; i < 1000; ++i) {
    Pack pack{};
    late.Store(&pack, kOnes);
    while (late.on_their_way() > 0) {
      const std::uint32_t there = Sum(pack);
      if (there > 0 && there < kPackWords) ++torn;
      late.Step();
    }
    ASSERT_EQ(Sum(pack), static_cast<std::uint32_t>(kPackWords));
  }
  EXPECT_GT(torn, 500);
}

TEST(LateStores, WordsOfOneAddressLandInTheOrderOfTheirStores) {
  LateStores late(3);
  Pack pack{};
  Pack before{};
  for (std::uint32_t value = 1; value < 20000; ++value) {
    late.Store(&pack, {{value, value, value, value}});
    if (value % 5 == 0) late.Step();
    for (int i = 0; i < kPackWords; ++i) ASSERT_GE(pack.word[i], before.word[i]);
    before = pack;
  }
  late.LandAll();
  EXPECT_EQ(Sum(pack), 4 * 19999u);
}

TEST(LateStores, IsTheSameForASeedAndNotForAnother) {
  EXPECT_EQ(Latenesses(7, 100), Latenesses(7, 100));
  EXPECT_NE(Latenesses(7, 100), Latenesses(8, 100));
}

TEST(HostMachine, AMulticastStoreReachesEveryShareTheOwnOneIncluded) {
  std::vector<std::vector<Pack>> shares(3, std::vector<Pack>(8));
  LateStores late(4);
  HostMulticast multicast({shares[0].data(), shares[1].data(), shares[2].data()}, late);
  HostStream stream;
  stream.Delay(&late);
  stream.Launch([&](GridRunner& runner) {
    runner.Run({1, 8}, 0, [&](HostThread& thread) {
      HostMachine m(thread);
      const std::int64_t pack = m.thread_index();
      if (pack % 2 == 0) {
        m.multimem_store_relaxed_sys_v4_f32(multicast.address(), pack, kOnes);
      } else {
        m.multimem_store_weak_v4_f32(multicast.address(), pack, kOnes);
      }
    });
  });
  EXPECT_GT(late.on_their_way(), 0u);
  stream.Synchronize();
  EXPECT_EQ(late.on_their_way(), 0u);
  for (const auto& share : shares) {
    for (const Pack& pack : share) EXPECT_EQ(Sum(pack), static_cast<std::uint32_t>(kPackWords));
  }
}

// The launch that stores has had a few steps more and is over; the word lands in the one behind it.
TEST(HostMachine, SomeWordsLandInALaterLaunch) {
  Pack share{};
  LateStores late(5);
  HostMulticast multicast({&share}, late);
  HostStream stream;
  stream.Delay(&late);
  int landed_later = 0;
  const auto launch = [&](bool stores) {
    stream.Launch([&, stores](GridRunner& runner) {
      const std::uint32_t before = Sum(share);
      runner.Run({stores ? 8 : 200, 1}, 0, [&](HostThread& thread) {
        HostMachine m(thread);
        if (stores && m.cta_index() == 0) {
          m.multimem_store_relaxed_sys_v4_f32(multicast.address(), 0, kOnes);
        }
      });
      if (!stores && Sum(share) > before) ++landed_later;
    });
  };
  for (int i = 0; i < 5000; ++i) {
    share = {};
    launch(true);
    launch(false);
    stream.Synchronize();
  }
  EXPECT_GT(landed_later, 5);
}

// Every thread waits for the own copy: the words land although nothing else moves.
TEST(HostMachine, WordsLandWhileEveryThreadPolls) {
  Pack share{};
  LateStores late(6);
  HostMulticast multicast({&share}, late);
  GridRunner runner;
  runner.Delay(&late);
  for (int round = 0; round < 500; ++round) {
    share = {};
    runner.Run({1, 4}, 0, [&](HostThread& thread) {
      HostMachine m(thread);
      if (m.thread_index() == 0) {
        m.multimem_store_relaxed_sys_v4_f32(multicast.address(), 0, kOnes);
      }
      const std::uint32_t* word = &share.word[m.thread_index()];
      while (m.load_volatile_u32(word) == 0) m.poll_again({.word = word, .seen = 0});
    });
    ASSERT_EQ(Sum(share), static_cast<std::uint32_t>(kPackWords));
  }
}

}  // namespace
}  // namespace mailbench
