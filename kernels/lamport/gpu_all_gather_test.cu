// The gather on one GPU: ranks are streams of one process, mailboxes plain device memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/thread_ranks.h"

namespace mailbench {
namespace {

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

bool HaveGpu() {
  int gpus = 0;
  return cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0;
}

struct GpuRank {
  cudaStream_t stream = nullptr;
  Pack* mailbox = nullptr;
  GatherState* state = nullptr;
  Pack* input = nullptr;
  Pack* output = nullptr;
};

class GpuAllGather : public testing::Test {
 protected:
  void SetUp() override {
    if (!HaveGpu()) GTEST_SKIP() << "no GPU";
  }

  void Make(int ranks, std::int64_t capacity_packs) {
    layout_ = {ranks, capacity_packs};
    ranks_.resize(static_cast<std::size_t>(ranks));
    std::vector<Pack> armed(static_cast<std::size_t>(layout_.packs()));
    ArmMailbox(armed.data(), layout_);
    for (GpuRank& rank : ranks_) {
      ASSERT_CUDA(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking));
      ASSERT_CUDA(cudaMalloc(&rank.mailbox, static_cast<std::size_t>(layout_.bytes())));
      ASSERT_CUDA(cudaMemcpy(rank.mailbox, armed.data(), static_cast<std::size_t>(layout_.bytes()),
                             cudaMemcpyHostToDevice));
      ASSERT_CUDA(cudaMalloc(&rank.state, sizeof(GatherState)));
      ASSERT_CUDA(cudaMemset(rank.state, 0, sizeof(GatherState)));
      ASSERT_CUDA(cudaMalloc(&rank.input, static_cast<std::size_t>(capacity_packs) * kPackBytes));
      ASSERT_CUDA(
          cudaMalloc(&rank.output, static_cast<std::size_t>(ranks * capacity_packs) * kPackBytes));
    }
    ASSERT_CUDA(cudaDeviceSynchronize());
  }

  void TearDown() override {
    for (GpuRank& rank : ranks_) {
      cudaStreamDestroy(rank.stream);
      for (void* memory : {static_cast<void*>(rank.mailbox), static_cast<void*>(rank.state),
                           static_cast<void*>(rank.input), static_cast<void*>(rank.output)}) {
        cudaFree(memory);
      }
    }
  }

  // One gather of `packs` on every rank, its outputs compared whole.
  void Gather(int call, std::int64_t packs) {
    const int ranks = layout_.ranks;
    const auto bytes = static_cast<std::size_t>(packs) * kPackBytes;
    for (int r = 0; r < ranks; ++r) {
      const std::vector<Pack> input = TestInput(call, r, packs);
      ASSERT_CUDA(cudaMemcpy(ranks_[static_cast<std::size_t>(r)].input, input.data(), bytes,
                             cudaMemcpyHostToDevice));
    }
    // A copy from pageable memory returns before the data has arrived, and the ranks' streams do
    // not wait for the default one.
    ASSERT_CUDA(cudaDeviceSynchronize());
    for (int r = 0; r < ranks; ++r) {
      GpuRank& rank = ranks_[static_cast<std::size_t>(r)];
      AllGatherArgs args;
      args.input = rank.input;
      args.output = rank.output;
      args.packs = packs;
      args.state = rank.state;
      args.mailbox.layout = layout_;
      args.mailbox.rank = r;
      args.mailbox.local = rank.mailbox;
      for (int peer = 0; peer < ranks; ++peer) {
        args.mailbox.peers[peer] = ranks_[static_cast<std::size_t>(peer)].mailbox;
      }
      ASSERT_CUDA(LaunchAllGather(args, Publish::kUnicast, rank.stream));
    }
    ASSERT_CUDA(cudaDeviceSynchronize());
    for (int r = 0; r < ranks; ++r) {
      std::vector<Pack> output(static_cast<std::size_t>(ranks * packs));
      ASSERT_CUDA(cudaMemcpy(output.data(), ranks_[static_cast<std::size_t>(r)].output,
                             bytes * static_cast<std::size_t>(ranks), cudaMemcpyDeviceToHost));
      EXPECT_EQ(WrongWords(output, call, ranks, packs), 0u) << "rank " << r << ", call " << call;
    }
  }

  void ExpectCleanMailboxes() {
    for (GpuRank& rank : ranks_) {
      std::vector<Pack> mailbox(static_cast<std::size_t>(layout_.packs()));
      ASSERT_CUDA(cudaMemcpy(mailbox.data(), rank.mailbox,
                             static_cast<std::size_t>(layout_.bytes()), cudaMemcpyDeviceToHost));
      EXPECT_EQ(AuditMailbox(mailbox.data(), layout_).leftover, 0u);
    }
  }

  MailboxLayout layout_;
  std::vector<GpuRank> ranks_;
};

// Up to eight streams: more than the default number of hardware queues would share one, and a rank
// that waits for another behind it in the same queue waits for ever.
TEST_F(GpuAllGather, IsExactAndLeavesNothingBehindWhateverTheSizes) {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    TearDown();
    ranks_.clear();
    Make(ranks, 1024);
    int call = 0;
    for (const std::int64_t packs : {1, 64, 1, 65, 1024, 1, 1, 3, 130, 2, 63, 64, 1}) {
      Gather(call++, packs);
      if (HasFatalFailure()) return;
    }
    ExpectCleanMailboxes();
  }
}

TEST_F(GpuAllGather, OneRankTakesTheLargestSize) {
  Make(1, 32768);
  for (int call = 0; call < 4; ++call) Gather(call, 32768);
  ExpectCleanMailboxes();
}

}  // namespace
}  // namespace mailbench
