// The gathers on one GPU: ranks are streams of one process, mailboxes plain device memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <ostream>
#include <thread>
#include <vector>

#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "kernels/lamport/mailbox.h"
#include "kernels/lamport/thread_ranks.h"

namespace mailbench {

// Names the tests.
static void PrintTo(const GatherOptions& options, std::ostream* out) {
  if (options.kind == GatherKind::kLamport) {
    *out << "lamport";
    return;
  }
  *out << "overlapped_" << (options.arrival == Arrival::kRelaxed ? "relaxed" : "acq_rel")
       << (options.trigger == Trigger::kAfterWait ? "_wait" : "_publish");
}

namespace {

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

GatherOptions Overlapped(Arrival arrival, Trigger trigger) {
  GatherOptions options;
  options.kind = GatherKind::kOverlapped;
  options.arrival = arrival;
  options.trigger = trigger;
  return options;
}

const std::vector<GatherOptions> kAllOptions = {
    GatherOptions{},
    Overlapped(Arrival::kRelaxed, Trigger::kAfterWait),
    Overlapped(Arrival::kRelaxed, Trigger::kAfterPublish),
    Overlapped(Arrival::kAcqRel, Trigger::kAfterWait),
    Overlapped(Arrival::kAcqRel, Trigger::kAfterPublish),
};

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
    void* word = nullptr;
    void* mapped = nullptr;
    ASSERT_CUDA(cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped));
    ASSERT_CUDA(cudaHostGetDevicePointer(&mapped, word, 0));
    abort_word_ = static_cast<volatile std::uint32_t*>(word);
    mapped_abort_word_ = static_cast<std::uint32_t*>(mapped);
    *abort_word_ = 0;
  }

  void TearDown() override {
    Free();
    cudaFreeHost(const_cast<std::uint32_t*>(abort_word_));
  }

  void Make(int ranks, std::int64_t capacity_packs) {
    Free();
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

  void Free() {
    for (GpuRank& rank : ranks_) {
      cudaStreamDestroy(rank.stream);
      for (void* memory : {static_cast<void*>(rank.mailbox), static_cast<void*>(rank.state),
                           static_cast<void*>(rank.input), static_cast<void*>(rank.output)}) {
        cudaFree(memory);
      }
    }
    ranks_.clear();
  }

  void SetInputs(int call, std::int64_t packs) {
    for (int r = 0; r < layout_.ranks; ++r) {
      const std::vector<Pack> input = TestInput(call, r, packs);
      ASSERT_CUDA(cudaMemcpy(ranks_[static_cast<std::size_t>(r)].input, input.data(),
                             static_cast<std::size_t>(packs) * kPackBytes, cudaMemcpyHostToDevice));
    }
    // A copy from pageable memory returns before the data has arrived, and the ranks' streams do
    // not wait for the default one.
    ASSERT_CUDA(cudaDeviceSynchronize());
  }

  // With times, a traced call.
  cudaError_t Launch(int r, std::int64_t packs, GatherOptions options,
                     const TraceView& trace = {}) {
    const GpuRank& rank = ranks_[static_cast<std::size_t>(r)];
    AllGatherArgs args;
    args.input = rank.input;
    args.output = rank.output;
    args.packs = packs;
    args.state = rank.state;
    args.mailbox.layout = layout_;
    args.mailbox.rank = r;
    args.mailbox.local = rank.mailbox;
    for (int peer = 0; peer < layout_.ranks; ++peer) {
      args.mailbox.peers[peer] = ranks_[static_cast<std::size_t>(peer)].mailbox;
    }
    options.abort_word = mapped_abort_word_;
    if (trace.times != nullptr) return LaunchTracedAllGather(args, trace, options, rank.stream);
    return LaunchAllGather(args, options, rank.stream);
  }

  bool Ended() const {
    for (const GpuRank& rank : ranks_) {
      if (cudaStreamQuery(rank.stream) == cudaErrorNotReady) return false;
    }
    return true;
  }

  // False when a stream is still busy after a minute.
  bool AwaitEnd() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!Ended()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  // A call that hangs fails the test; the abort word then ends it.
  void ExpectEnd() {
    if (AwaitEnd()) return;
    *abort_word_ = 1;
    AwaitEnd();
    FAIL() << "a call did not end";
  }

  void ExpectOutputs(int call, std::int64_t packs) {
    const int ranks = layout_.ranks;
    for (int r = 0; r < ranks; ++r) {
      std::vector<Pack> output(static_cast<std::size_t>(ranks * packs));
      ASSERT_CUDA(cudaMemcpy(output.data(), ranks_[static_cast<std::size_t>(r)].output,
                             output.size() * kPackBytes, cudaMemcpyDeviceToHost));
      EXPECT_EQ(WrongWords(output, call, ranks, packs), 0u) << "rank " << r << ", call " << call;
    }
  }

  // One gather of `packs` on every rank, its outputs compared whole.
  void Gather(int call, std::int64_t packs, const GatherOptions& options) {
    SetInputs(call, packs);
    for (int r = 0; r < layout_.ranks; ++r) ASSERT_CUDA(Launch(r, packs, options));
    ExpectEnd();
    if (!HasFatalFailure()) ExpectOutputs(call, packs);
  }

  std::vector<Pack> MailboxOf(int r) {
    std::vector<Pack> mailbox(static_cast<std::size_t>(layout_.packs()));
    EXPECT_EQ(cudaMemcpy(mailbox.data(), ranks_[static_cast<std::size_t>(r)].mailbox,
                         static_cast<std::size_t>(layout_.bytes()), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return mailbox;
  }

  void ExpectCleanMailboxes() {
    for (int r = 0; r < layout_.ranks; ++r) {
      EXPECT_EQ(AuditMailbox(MailboxOf(r).data(), layout_).leftover, 0u) << "rank " << r;
    }
  }

  MailboxLayout layout_;
  std::vector<GpuRank> ranks_;
  volatile std::uint32_t* abort_word_ = nullptr;
  std::uint32_t* mapped_abort_word_ = nullptr;
};

class GpuAllGatherTest : public GpuAllGather, public testing::WithParamInterface<GatherOptions> {};
INSTANTIATE_TEST_SUITE_P(Options, GpuAllGatherTest, testing::ValuesIn(kAllOptions),
                         testing::PrintToStringParamName());

// Up to eight streams: more than the default number of hardware queues would share one, and a rank
// that waits for another behind it in the same queue waits for ever.
TEST_P(GpuAllGatherTest, IsExactAndLeavesNothingBehindWhateverTheSizes) {
  for (const int ranks : {1, 2, 3, 4, 8}) {
    Make(ranks, 1024);
    int call = 0;
    for (const std::int64_t packs : {1, 64, 1, 65, 1024, 1, 1, 3, 130, 2, 63, 64, 1}) {
      Gather(call++, packs, GetParam());
      if (HasFatalFailure()) return;
    }
    ExpectCleanMailboxes();
  }
}

TEST_P(GpuAllGatherTest, OneRankTakesTheLargestSize) {
  Make(1, 32768);
  for (int call = 0; call < 4 && !HasFatalFailure(); ++call) Gather(call, 32768, GetParam());
  ExpectCleanMailboxes();
}

// Calls that follow each other as dependents, in graphs replayed an odd number of times.
TEST_P(GpuAllGatherTest, ReplaysAsAGraph) {
  constexpr std::int64_t kPacks = 300;
  Make(4, kPacks);
  std::vector<cudaGraphExec_t> graphs(ranks_.size());
  for (int r = 0; r < layout_.ranks; ++r) {
    cudaStream_t stream = ranks_[static_cast<std::size_t>(r)].stream;
    cudaGraph_t graph = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (const std::int64_t packs : {1, 65, 2, 300}) ASSERT_CUDA(Launch(r, packs, GetParam()));
    ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&graphs[static_cast<std::size_t>(r)], graph, 0));
    ASSERT_CUDA(cudaGraphDestroy(graph));
  }
  for (int replay = 0; replay < 7; ++replay) {
    SetInputs(replay, kPacks);
    for (std::size_t r = 0; r < graphs.size(); ++r) {
      ASSERT_CUDA(cudaGraphLaunch(graphs[r], ranks_[r].stream));
    }
    ExpectEnd();
    if (HasFatalFailure()) return;
    ExpectOutputs(replay, kPacks);
  }
  for (cudaGraphExec_t graph : graphs) ASSERT_CUDA(cudaGraphExecDestroy(graph));
  ExpectCleanMailboxes();
}

// Rank 2 comes late.
TEST_P(GpuAllGatherTest, TracedCallsGatherAndSayWhomTheyWaitedFor) {
  constexpr std::int64_t kPacks = 130;
  constexpr int kRanks = 3;
  Make(kRanks, kPacks);
  SetInputs(0, kPacks);
  const AllGatherPlan plan = PlanAllGather(kPacks, kRanks);
  const auto words = static_cast<std::size_t>(TraceView::Words(kRanks, plan.grid_threads()));
  std::uint64_t* times = nullptr;
  ASSERT_CUDA(cudaMalloc(&times, kRanks * words * sizeof(std::uint64_t)));
  ASSERT_CUDA(cudaMemset(times, 0, kRanks * words * sizeof(std::uint64_t)));
  ASSERT_CUDA(cudaDeviceSynchronize());
  for (int r = 0; r < kRanks; ++r) {
    if (r == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const TraceView trace{times + static_cast<std::size_t>(r) * words, plan.grid_threads()};
    ASSERT_CUDA(Launch(r, kPacks, GetParam(), trace));
  }
  ExpectEnd();
  if (HasFatalFailure()) return;
  ExpectOutputs(0, kPacks);
  ExpectCleanMailboxes();
  std::vector<std::uint64_t> copy(kRanks * words);
  ASSERT_CUDA(
      cudaMemcpy(copy.data(), times, copy.size() * sizeof(std::uint64_t), cudaMemcpyDeviceToHost));
  ASSERT_CUDA(cudaFree(times));
  for (std::size_t r = 0; r < kRanks; ++r) {
    for (const TraceTimes& cta : ReadTrace(&copy[r * words], kRanks, plan.ctas, plan.threads)) {
      EXPECT_LE(cta.start, cta.published);
      EXPECT_LE(cta.published, cta.last_arrival());
      EXPECT_LE(cta.last_arrival(), cta.done);
      if (r == 2) continue;
      EXPECT_EQ(cta.awaited_for[2], cta.last_arrival());
      EXPECT_GT(cta.last_arrival() - cta.published, 10'000'000u);  // of the 20 ms
    }
  }
}

// Rank 2 never launches.
TEST_P(GpuAllGatherTest, TheAbortWordEndsCallsThatWaitForAMissingRank) {
  constexpr std::int64_t kPacks = 130;
  Make(3, kPacks);
  SetInputs(0, kPacks);
  for (int r = 0; r < 2; ++r) ASSERT_CUDA(Launch(r, kPacks, GetParam()));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(cudaStreamQuery(ranks_[0].stream), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(ranks_[1].stream), cudaErrorNotReady);

  *abort_word_ = 1;
  const bool ended = AwaitEnd();
  EXPECT_TRUE(ended) << "the abort word is not heeded";
  if (!ended) ASSERT_CUDA(Launch(2, kPacks, GetParam()));  // lets the others end after all
  ASSERT_TRUE(AwaitEnd());

  const int batch = PlanAllGather(kPacks, 3).poll_batch;
  for (int r = 0; ended && r < 2; ++r) {
    EXPECT_EQ(Describe(DiagnoseMailbox(MailboxOf(r).data(), layout_, {kPacks, kPacks}, batch)),
              "generation 0: slots of rank 2 are still sentinel (130 of 130 packs)");
    GatherState state{};
    ASSERT_CUDA(cudaMemcpy(&state, ranks_[static_cast<std::size_t>(r)].state, sizeof(state),
                           cudaMemcpyDeviceToHost));
    EXPECT_EQ(state.generation, GetParam().kind == GatherKind::kLamport ? 1u : 0u);
  }
}

TEST_P(GpuAllGatherTest, SixteenCtasFitOnAMultiprocessor) {
  for (const Publish publish :
       {Publish::kUnicast, Publish::kMulticast, Publish::kMulticastAliasFence}) {
    for (const int poll_batch : {1, 2, 4, 8}) {
      GatherOptions options = GetParam();
      options.publish = publish;
      int ctas = 0;
      ASSERT_CUDA(AllGatherCtasPerSm(options, poll_batch, &ctas));
      EXPECT_GE(ctas, 16) << "poll batch " << poll_batch;
      ASSERT_CUDA(TracedAllGatherCtasPerSm(options, poll_batch, &ctas));
      EXPECT_GE(ctas, 16) << "traced, poll batch " << poll_batch;
    }
  }
}

TEST_F(GpuAllGather, KindsMayAlternateOnOneMailbox) {
  Make(4, 1024);
  int call = 0;
  for (const std::int64_t packs : {1, 64, 1024, 65, 3, 1, 130, 2, 1024, 63, 64, 1, 1}) {
    const auto turn = static_cast<std::size_t>(call) % kAllOptions.size();
    Gather(call++, packs, kAllOptions[turn]);
    if (HasFatalFailure()) return;
  }
  ExpectCleanMailboxes();
}

}  // namespace
}  // namespace mailbench
