// The start gate on one GPU: ranks are streams of one process, latches plain device memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/machine/gpu/global_timer.h"
#include "kernels/start_gate/gpu_start_gate.h"

namespace mailbench {
namespace {

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

// With the stream that releases: no more than the hardware queues of a process, or two would share
// one, and the release could stand behind a wait.
constexpr int kMostRanks = 6;

// What runs behind the gate: it notes what the latch held when it started, and lasts for a while.
constexpr std::uint64_t kLastsNs = 50'000;
__global__ void NoteLatch(const Latch* own, std::uint32_t* note) {
  const std::uint64_t since = ReadGlobalTimer();
  *note = own->released.word[0];
  while (ReadGlobalTimer() - since < kLastsNs) {
  }
}

class GpuStartGate : public testing::Test {
 protected:
  void SetUp() override {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) GTEST_SKIP() << "no GPU";
    void* word = nullptr;
    ASSERT_CUDA(cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped));
    abort_word_ = static_cast<volatile std::uint32_t*>(word);
    *abort_word_ = 0;
    ASSERT_CUDA(cudaHostAlloc(&word, kMostRanks * sizeof(std::uint32_t), cudaHostAllocMapped));
    generations_ = static_cast<volatile std::uint32_t*>(word);
    int least = 0;
    int greatest = 0;
    ASSERT_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    ASSERT_CUDA(cudaStreamCreateWithPriority(&releasing_, cudaStreamNonBlocking, greatest));
    for (cudaStream_t& stream : streams_) {
      ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    ASSERT_CUDA(cudaMalloc(&latches_, kMostRanks * sizeof(Latch)));
    ASSERT_CUDA(cudaMalloc(&notes_, kMostRanks * sizeof(std::uint32_t)));
    ASSERT_CUDA(cudaMalloc(&times_, kMostRanks * sizeof(GateTimes)));
    ASSERT_CUDA(cudaMemset(latches_, 0, kMostRanks * sizeof(Latch)));
    ASSERT_CUDA(LoadStartGate());
    // Loaded before anything waits, as what follows a gate has to be.
    NoteLatch<<<1, 1, 0, streams_[0]>>>(latches_, notes_);
    ASSERT_CUDA(cudaDeviceSynchronize());
  }

  void TearDown() override {
    if (abort_word_ == nullptr) return;
    *abort_word_ = 1;  // whatever still waits ends
    cudaDeviceSynchronize();
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
    cudaStreamDestroy(releasing_);
    cudaFree(latches_);
    cudaFree(notes_);
    cudaFree(times_);
    cudaFreeHost(const_cast<std::uint32_t*>(generations_));
    cudaFreeHost(const_cast<std::uint32_t*>(abort_word_));
  }

  // The rank's wait, behind it the kernel that takes a note, and the end.
  void Wait(int rank, std::uint32_t generation) {
    cudaStream_t stream = streams_[rank];
    generations_[rank] = generation;
    ASSERT_CUDA(LaunchAwaitRelease(latches_ + rank, const_cast<std::uint32_t*>(generations_ + rank),
                                   times_ + rank, const_cast<std::uint32_t*>(abort_word_), stream));
    NoteLatch<<<1, 1, 0, stream>>>(latches_ + rank, notes_ + rank);
    ASSERT_CUDA(cudaGetLastError());
    ASSERT_CUDA(LaunchNoteEnd(times_ + rank, stream));
  }

  StartGateView View(int ranks) const {
    StartGateView view;
    view.ranks = ranks;
    for (int rank = 0; rank < ranks; ++rank) view.latches[rank] = latches_ + rank;
    return view;
  }

  int Waiting(int ranks) const {
    int waiting = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      waiting += cudaStreamQuery(streams_[rank]) == cudaErrorNotReady ? 1 : 0;
    }
    return waiting;
  }

  // False when a rank still waits after ten seconds.
  bool AwaitEnd(int ranks) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (Waiting(ranks) > 0) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  volatile std::uint32_t* abort_word_ = nullptr;
  volatile std::uint32_t* generations_ = nullptr;  // by rank
  cudaStream_t streams_[kMostRanks] = {};
  cudaStream_t releasing_ = nullptr;
  Latch* latches_ = nullptr;
  std::uint32_t* notes_ = nullptr;
  GateTimes* times_ = nullptr;
};

TEST_F(GpuStartGate, NothingBehindItRunsBeforeTheRelease) {
  std::uint32_t generation = 0;
  for (const int ranks : {1, 2, kMostRanks}) {
    for (int turn = 0; turn < 20; ++turn) {
      ASSERT_CUDA(cudaMemset(latches_, 0, kMostRanks * sizeof(Latch)));
      ASSERT_CUDA(cudaMemset(notes_, 0xff, kMostRanks * sizeof(std::uint32_t)));
      ASSERT_CUDA(cudaDeviceSynchronize());
      ++generation;
      for (int rank = 0; rank < ranks; ++rank) Wait(rank, generation);
      if (HasFatalFailure()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(Waiting(ranks), ranks);
      ASSERT_CUDA(LaunchRelease(View(ranks), generation, releasing_));
      ASSERT_TRUE(AwaitEnd(ranks)) << "a rank was not released";
      std::vector<std::uint32_t> notes(kMostRanks);
      ASSERT_CUDA(cudaMemcpy(notes.data(), notes_, notes.size() * sizeof(std::uint32_t),
                             cudaMemcpyDeviceToHost));
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(notes[static_cast<std::size_t>(rank)], generation) << "rank " << rank;
      }
    }
  }
}

TEST_F(GpuStartGate, TheGenerationBeforeOpensNothing) {
  ASSERT_CUDA(LaunchRelease(View(2), 1, releasing_));
  ASSERT_CUDA(cudaStreamSynchronize(releasing_));
  Wait(0, 2);
  Wait(1, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaStreamQuery(streams_[0]), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(streams_[1]), cudaSuccess);
  ASSERT_CUDA(LaunchRelease(View(2), 2, releasing_));
  EXPECT_TRUE(AwaitEnd(2));
}

// Five milliseconds pass before the release: they are not in the time, what runs behind the gate
// is.
TEST_F(GpuStartGate, TheTimeIsFromTheReleaseToTheEndOfWhatStandsBehind) {
  constexpr std::uint64_t kWaitNs = 5'000'000;
  Wait(0, 1);
  std::this_thread::sleep_for(std::chrono::nanoseconds(kWaitNs));
  ASSERT_CUDA(LaunchRelease(View(1), 1, releasing_));
  ASSERT_TRUE(AwaitEnd(1));
  GateTimes times{};
  ASSERT_CUDA(cudaMemcpy(&times, times_, sizeof(times), cudaMemcpyDeviceToHost));
  EXPECT_GE(times.ended - times.released, kLastsNs);
  EXPECT_LT(times.ended - times.released, kWaitNs);
}

TEST_F(GpuStartGate, ARecordedWaitServesOneGenerationAfterTheOther) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replayed = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(streams_[0], cudaStreamCaptureModeThreadLocal));
  Wait(0, 1);
  ASSERT_CUDA(cudaStreamEndCapture(streams_[0], &graph));
  ASSERT_CUDA(cudaGraphInstantiate(&replayed, graph, 0));
  for (std::uint32_t generation = 1; generation <= 3; ++generation) {
    generations_[0] = generation;
    ASSERT_CUDA(cudaGraphLaunch(replayed, streams_[0]));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(Waiting(1), 1) << "generation " << generation;
    ASSERT_CUDA(LaunchRelease(View(1), generation, releasing_));
    ASSERT_TRUE(AwaitEnd(1)) << "generation " << generation;
    std::uint32_t note = 0;
    ASSERT_CUDA(cudaMemcpy(&note, notes_, sizeof(note), cudaMemcpyDeviceToHost));
    EXPECT_EQ(note, generation);
  }
  cudaGraphExecDestroy(replayed);
  cudaGraphDestroy(graph);
}

TEST_F(GpuStartGate, TheAbortWordEndsAWaitThatNobodyReleases) {
  Wait(0, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaStreamQuery(streams_[0]), cudaErrorNotReady);
  *abort_word_ = 1;
  EXPECT_TRUE(AwaitEnd(1)) << "the abort word is not heeded";
}

}  // namespace
}  // namespace mailbench
