// The check on a GPU: the same logs as on the host, of the same outputs.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/stress/gpu_gather_check.h"
#include "kernels/stress/host_gather_check.h"

namespace mailbench {
namespace {

#define ASSERT_CUDA(call) ASSERT_EQ((call), cudaSuccess) << cudaGetErrorString(cudaGetLastError())

constexpr std::int64_t kPacks[] = {1, 7, kItemPacks, 40 * kItemPacks + 3, 2};
constexpr int kCalls = 5;
constexpr std::int64_t kMisalignment = 4;

// One batch in memory that a GPU and the host see alike, of one rank; inputs off by a word.
class Batch {
 public:
  Batch() {
    std::size_t packs = 0;
    for (const std::int64_t each : kPacks) packs += static_cast<std::size_t>(each + 1);
    ok_ = Take(&inputs_, packs) && Take(&outputs_, packs) && Take(&calls_, kCalls) &&
          Take(&wrong_words_, kCalls) && Take(&items_, packs) && Take(&log_, 1);
    if (!ok_) return;
    std::int64_t at = 0;
    int items = 0;
    for (int call = 0; call < kCalls; ++call) {
      const std::int64_t packs_of = kPacks[call];
      calls_[call] = {reinterpret_cast<std::byte*>(inputs_ + at) + kMisalignment, outputs_ + at,
                      packs_of, packs_of * kPackBytes, packs_of * kPackBytes};
      at += packs_of + 1;
      for (std::int64_t first = 0; first < packs_of; first += kItemPacks) {
        items_[items++] = {first, call};
      }
    }
    view_.calls = calls_;
    view_.wrong_words = wrong_words_;
    view_.fill_items = view_.check_items = items_;
    view_.fill_count = view_.check_count = items;
    view_.log = log_;
    view_.count = kCalls;
    view_.ranks = 1;
    view_.seed = 5;
  }
  ~Batch() {
    for (void* memory : memory_) cudaFreeHost(memory);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  bool ok() const { return ok_; }
  const CheckedBatch& view() const { return view_; }
  CallLog& log() const { return *log_; }
  Pack* output(int call) const { return calls_[call].output; }
  void Gather() const {
    for (int call = 0; call < kCalls; ++call) {
      std::memcpy(calls_[call].output, calls_[call].input,
                  static_cast<std::size_t>(kPacks[call]) * kPackBytes);
    }
  }

 private:
  template <class T>
  bool Take(T** to, std::size_t count) {
    void* memory = nullptr;
    if (cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped) != cudaSuccess) return false;
    std::memset(memory, 0, count * sizeof(T));
    memory_.push_back(memory);
    *to = static_cast<T*>(memory);
    return true;
  }

  bool ok_ = false;
  std::vector<void*> memory_;
  Pack* inputs_ = nullptr;
  Pack* outputs_ = nullptr;
  CheckedCall* calls_ = nullptr;
  std::uint32_t* wrong_words_ = nullptr;
  WorkItem* items_ = nullptr;
  CallLog* log_ = nullptr;
  CheckedBatch view_;
};

TEST(GpuGatherCheck, FindsWhatTheHostFinds) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) GTEST_SKIP() << "no GPU";
  Batch gpu;
  Batch host;
  ASSERT_TRUE(gpu.ok() && host.ok());
  for (int replay = 0; replay < 4; ++replay) {
    ASSERT_CUDA(LaunchFillInputs(gpu.view(), nullptr));
    ASSERT_CUDA(cudaDeviceSynchronize());
    FillInputsOnHost(host.view());
    gpu.Gather();
    host.Gather();
    for (int call = 0; call < kCalls; ++call) {
      ASSERT_EQ(std::memcmp(gpu.output(call), host.output(call),
                            static_cast<std::size_t>(kPacks[call]) * kPackBytes),
                0);
    }
    if (replay == 2) {
      for (const Batch* batch : {&gpu, &host}) {
        batch->output(3)[40 * kItemPacks + 2].word[1] ^= 4;
        batch->output(1)[6].word[3] ^= 4;
      }
    }
    ASSERT_CUDA(LaunchCheckOutputs(gpu.view(), nullptr));
    ASSERT_CUDA(cudaDeviceSynchronize());
    CheckOutputsOnHost(host.view());
    const std::uint32_t wrong = replay < 2 ? 0 : 2;
    EXPECT_EQ(gpu.log().wrong_calls, wrong);
    EXPECT_EQ(gpu.log().mismatches, wrong);
    EXPECT_EQ(gpu.log().next_call, static_cast<std::uint64_t>(kCalls) * (replay + 1));
    EXPECT_EQ(gpu.log().next_call, host.log().next_call);
    EXPECT_EQ(gpu.log().compared, host.log().compared);
    EXPECT_EQ(gpu.log().finished_ctas, 0u);
    EXPECT_EQ(gpu.output(3)[5].word[0], kPoison);
  }
  // In the order in which CTAs came to it.
  const bool swapped = gpu.log().wrong[0].call != host.log().wrong[0].call;
  for (int i = 0; i < 2; ++i) {
    const WrongCall& seen = gpu.log().wrong[swapped ? 1 - i : i];
    const WrongCall& expected = host.log().wrong[i];
    EXPECT_EQ(seen.call, expected.call);
    EXPECT_EQ(seen.pack, expected.pack);
    EXPECT_EQ(seen.word, expected.word);
    EXPECT_EQ(seen.expected, expected.expected);
    EXPECT_EQ(std::memcmp(seen.seen, expected.seen, sizeof seen.seen), 0);
  }
}

}  // namespace
}  // namespace mailbench
