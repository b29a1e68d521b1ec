// The start gate on the host machine: ranks are threads, and processes that share memory.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/start_gate/host_start_gate.h"

namespace mailbench {
namespace {

StartGateView ViewOf(Latch* latches, int ranks, int rank) {
  StartGateView view;
  view.ranks = ranks;
  view.rank = rank;
  for (int peer = 0; peer < ranks; ++peer) view.latches[peer] = latches + peer;
  return view;
}

TEST(StartGate, AReleaseReachesEveryLatchAndNothingElse) {
  std::vector<Latch> latches(kMaxRanks);
  GridRunner runner;
  for (const int ranks : {1, 5, kMaxRanks}) {
    for (Latch& latch : latches) latch = {};
    ReleaseOnHost(ViewOf(latches.data(), ranks, 0), 7, runner);
    for (int rank = 0; rank < kMaxRanks; ++rank) {
      for (const std::uint32_t word : latches[static_cast<std::size_t>(rank)].released.word) {
        EXPECT_EQ(word, rank < ranks ? 7u : 0u) << "rank " << rank << " of " << ranks;
      }
    }
  }
}

TEST(StartGate, AWaitForWhatWasReleasedReturns) {
  Latch latch{{{3, 3, 3, 3}}};
  GridRunner runner;
  AwaitReleaseOnHost(&latch, 3, runner);
  EXPECT_EQ(runner.last_poll().word, nullptr);  // not one poll in vain
}

TEST(StartGate, AWaitThatIsGivenUpReturns) {
  Latch latch{{{3, 3, 3, 3}}};
  std::atomic<bool> give_up{false};
  std::atomic<bool> passed{false};
  GridRunner runner;
  runner.GiveUpWhen(&give_up);
  std::thread waits([&] {
    AwaitReleaseOnHost(&latch, 4, runner);
    passed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(passed);  // the generation before opens nothing
  give_up = true;
  waits.join();
  EXPECT_EQ(runner.last_poll().word, &latch.released.word[0]);
  EXPECT_EQ(runner.last_poll().generation, 4u);
}

// A rank of a test: at each generation it comes to the barrier, rank 0 releases, and nobody has
// passed before that.
struct Shared {
  Latch latches[4];
  std::atomic<int> arrived;
  std::atomic<std::uint32_t> released;  // stored just before the release
  std::atomic<int> early;               // passings before the release
};

constexpr int kRanks = 4;
constexpr std::uint32_t kGenerations = 200;

void BeRank(Shared& shared, int rank) {
  const StartGateView gate = ViewOf(shared.latches, kRanks, rank);
  GridRunner runner;
  for (std::uint32_t generation = 1; generation <= kGenerations; ++generation) {
    ++shared.arrived;
    if (rank == 0) {
      while (shared.arrived < kRanks * static_cast<int>(generation)) sched_yield();
      shared.released = generation;
      ReleaseOnHost(gate, generation, runner);
    }
    AwaitReleaseOnHost(gate.latches[rank], generation, runner);
    if (shared.released != generation) ++shared.early;
  }
}

TEST(StartGate, ThreadsPassEveryGenerationOnceItIsReleased) {
  Shared shared{};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] { BeRank(shared, rank); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.early, 0);
}

TEST(StartGate, SoDoProcessesThatShareTheLatches) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared{};
  std::vector<pid_t> children;
  for (int rank = 1; rank < kRanks; ++rank) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      BeRank(shared, rank);
      _exit(0);
    }
    children.push_back(child);
  }
  BeRank(shared, 0);
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(shared.early, 0);
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace mailbench
