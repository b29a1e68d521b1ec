#include "kernels/machine/host/host_machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/machine/host/stream.h"

namespace mailbench {
namespace {

TEST(GridRunner, RunsEveryThreadOfEveryCtaOnce) {
  for (const GridDims dims :
       {GridDims{1, 1}, GridDims{3, 64}, GridDims{100, 33}, GridDims{2, 1024}}) {
    std::vector<int> runs(static_cast<std::size_t>(dims.ctas) *
                          static_cast<std::size_t>(dims.threads));
    GridRunner runner;
    runner.Run(dims, 0, [&](HostThread& thread) {
      const int index = thread.cta_index() * dims.threads + thread.thread_index();
      ++runs[static_cast<std::size_t>(index)];
    });
    EXPECT_EQ(runs, std::vector<int>(runs.size(), 1)) << dims.ctas << " x " << dims.threads;
  }
}

TEST(GridRunner, RefusesGridsThatNoGpuWouldTake) {
  GridRunner runner;
  const auto nothing = [](HostThread&) {};
  EXPECT_THROW(runner.Run({0, 1}, 0, nothing), std::invalid_argument);
  EXPECT_THROW(runner.Run({1, 0}, 0, nothing), std::invalid_argument);
  EXPECT_THROW(runner.Run({1, 1025}, 0, nothing), std::invalid_argument);
}

TEST(GridRunner, BarrierSeparatesWhatCameBeforeFromWhatComesAfter) {
  constexpr int kThreads = 96;
  GridRunner runner;
  int wrong = 0;
  runner.Run({5, kThreads}, sizeof(int), [&](HostThread& thread) {
    auto* counter = static_cast<int*>(thread.shared());
    for (int round = 1; round <= 3; ++round) {
      ++*counter;
      thread.CtaBarrier();
      if (*counter != round * kThreads) ++wrong;
      thread.CtaBarrier();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(GridRunner, SharedMemoryStartsZeroedInEveryCta) {
  GridRunner runner;
  int dirty = 0;
  runner.Run({40, 64}, 256, [&](HostThread& thread) {
    auto* bytes = static_cast<unsigned char*>(thread.shared());
    for (int i = 0; i < 256; ++i) dirty += bytes[i] != 0 && thread.thread_index() == 0;
    thread.CtaBarrier();
    bytes[thread.thread_index()] = 0xff;
  });
  EXPECT_EQ(dirty, 0);
}

TEST(GridRunner, ThreadsThatReturnNoLongerKeepABarrierWaiting) {
  GridRunner runner;
  int passed = 0;
  runner.Run({1, 64}, 0, [&](HostThread& thread) {
    if (thread.thread_index() % 2 == 0) return;
    thread.CtaBarrier();
    ++passed;
  });
  EXPECT_EQ(passed, 32);
}

TEST(GridRunner, NamesTheCtaWhoseThreadsWaitForEachOther) {
  GridRunner runner;
  try {
    runner.Run({3, 32}, 0, [](HostThread& thread) {
      if (thread.cta_index() != 2) return;
      if (thread.thread_index() == 0) {
        thread.CtaBarrier();
      } else {
        thread.WarpExchange(0);
      }
    });
    FAIL() << "returned";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("CTA 2"), std::string::npos) << error.what();
  }
}

TEST(GridRunner, ThrowsOnWhatAThreadThrewAndStaysUsable) {
  GridRunner runner;
  EXPECT_THROW(runner.Run({4, 64}, 0,
                          [](HostThread& thread) {
                            if (thread.thread_index() == 40) throw std::out_of_range("planted");
                            thread.CtaBarrier();
                          }),
               std::out_of_range);
  int runs = 0;
  runner.Run({4, 64}, 0, [&](HostThread&) { ++runs; });
  EXPECT_EQ(runs, 256);
}

TEST(GridRunner, PollsUntilAnotherThreadOfTheSystemHasStored) {
  std::uint32_t word = 0;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic_ref<std::uint32_t>(word).store(7, std::memory_order_relaxed);
  });
  GridRunner runner;
  int saw = 0;
  runner.Run({20, 128}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    while (m.load_volatile_u32(&word) != 7) m.poll_again({.word = &word, .seen = 0});
    ++saw;
  });
  other.join();
  EXPECT_EQ(saw, 20 * 128);
}

// Whoever polls is not run again before the word has changed, so that waiting costs little.
TEST(GridRunner, APollSleepsUntilItsWordChanges) {
  std::uint32_t word = 0;
  int polls = 0;
  GridRunner runner;
  runner.Run({1, 2}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    if (m.thread_index() == 0) {
      while (m.load_volatile_u32(&word) == 0) {
        ++polls;
        m.poll_again({.word = &word, .seen = 0});
      }
      return;
    }
    const std::uint32_t other = 0;
    for (int i = 0; i < 100; ++i) m.poll_again({.word = &other, .seen = 1});
    m.store_u32(&word, 1);
  });
  EXPECT_EQ(polls, 1);
}

TEST(GridRunner, APollGivesUpWhenToldTo) {
  std::atomic<bool> give_up{true};
  GridRunner runner;
  runner.GiveUpWhen(&give_up);
  int gave_up = 0;
  const std::uint32_t word = 3;
  runner.Run({2, 32}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    const PollSite site{.word = &word, .seen = 3, .generation = 2, .source = 5, .pack = 9};
    if (!m.poll_again(site)) ++gave_up;
  });
  EXPECT_EQ(gave_up, 64);
  EXPECT_EQ(runner.last_poll().source, 5);
  EXPECT_EQ(runner.last_poll().pack, 9);
}

// A CTA beyond the resident ones starts only when one before it has returned.
TEST(GridRunner, KeepsToTheResidencyItWasGiven) {
  GridRunner runner(/*resident_threads=*/64);
  int live = 0;
  int most = 0;
  const std::uint32_t word = 0;
  runner.Run({9, 32}, 0, [&](HostThread& thread) {
    const bool first = thread.thread_index() == 0;
    if (first) most = std::max(most, ++live);
    thread.CtaBarrier();
    // A turn of every other CTA that is resident.
    HostMachine(thread).poll_again({.word = &word, .seen = 1});
    if (first) --live;
  });
  EXPECT_EQ(most, 2);
}

TEST(HostMachine, AWarpOperationWithoutAllItsLanesIsAnError) {
  GridRunner runner;
  EXPECT_THROW(runner.Run({1, 64}, 0,
                          [](HostThread& thread) {
                            if (thread.thread_index() == 3) return;
                            thread.CtaBarrier();
                            HostMachine(thread).warp_ballot(true);
                          }),
               std::logic_error);
}

TEST(HostMachine, WarpShuffleXorExchangesLanes) {
  GridRunner runner;
  int wrong = 0;
  runner.Run({2, 96}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    const auto own = static_cast<std::uint32_t>(m.thread_index());
    for (int mask = 1; mask < 32; mask *= 2) {
      const std::uint32_t other = own ^ static_cast<std::uint32_t>(mask);
      if (m.warp_shuffle_xor(own * 3, mask) != other * 3) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// The butterfly that every warp reduction is made of, over values that differ from round to round.
TEST(HostMachine, WarpShuffleXorReduces) {
  GridRunner runner;
  int wrong = 0;
  runner.Run({1, 64}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    for (std::uint32_t round = 0; round < 50; ++round) {
      std::uint32_t sum = static_cast<std::uint32_t>(m.thread_index() % 32) + round;
      for (int mask = 16; mask > 0; mask /= 2) sum += m.warp_shuffle_xor(sum, mask);
      if (sum != 31 * 32 / 2 + 32 * round) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(HostMachine, WarpBallotCollectsOneBitALane) {
  GridRunner runner;
  int wrong = 0;
  runner.Run({1, 64}, 0, [&](HostThread& thread) {
    HostMachine m(thread);
    if (m.warp_ballot(m.thread_index() % 3 == 0) !=
        (m.thread_index() < 32 ? 0x49249249u : 0x92492492u)) {
      ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(HostMachine, AtomicAddsReturnTheValueBefore) {
  std::uint32_t counter = 0;
  std::vector<int> seen(512);
  GridRunner runner;
  runner.Run({4, 64}, 0, [&](HostThread& thread) {
    ++seen[HostMachine(thread).atomic_add_acq_rel_gpu(&counter, 1)];
    ++seen[HostMachine(thread).atomic_add_relaxed_gpu(&counter, 1)];
  });
  EXPECT_EQ(counter, 512u);
  EXPECT_EQ(seen, std::vector<int>(512, 1));
}

TEST(HostStream, RunsAtOnceOrRecordsWithArgumentsFrozen) {
  HostStream stream;
  std::vector<int> ran;
  const auto launch = [&](int value) {
    stream.Launch([&ran, value](GridRunner&) { ran.push_back(value); });
  };
  launch(1);
  EXPECT_EQ(ran, (std::vector<int>{1}));
  stream.BeginCapture();
  launch(2);
  launch(3);
  const HostGraph graph = stream.EndCapture();
  EXPECT_EQ(ran, (std::vector<int>{1}));
  EXPECT_EQ(graph.size(), 2u);
  int launches = 0;
  stream.OnLaunch([&] { ++launches; });
  stream.Replay(graph);
  stream.Replay(graph);
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 2, 3}));
  EXPECT_EQ(launches, 4);
}

TEST(HostStream, RefusesCapturesOutOfOrder) {
  HostStream stream;
  EXPECT_THROW(stream.EndCapture(), std::logic_error);
  stream.BeginCapture();
  EXPECT_THROW(stream.BeginCapture(), std::logic_error);
  EXPECT_THROW(stream.Replay(HostGraph{}), std::logic_error);
}

}  // namespace
}  // namespace mailbench
