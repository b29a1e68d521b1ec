#include "kernels/lamport/host_all_gather.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/lamport/launch.h"
#include "kernels/lamport/thread_ranks.h"

namespace mailbench {

// Names the tests.
static void PrintTo(GatherKind kind, std::ostream* out) {
  *out << (kind == GatherKind::kLamport ? "lamport" : "overlapped");
}

namespace {

GatherInput Contiguous(const std::vector<Pack>& input, std::int64_t packs) {
  return {reinterpret_cast<const std::byte*>(input.data()), 1, packs * kPackBytes,
          packs * kPackBytes};
}

class HostAllGatherTest : public testing::TestWithParam<GatherKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, HostAllGatherTest,
                         testing::Values(GatherKind::kLamport, GatherKind::kOverlapped),
                         testing::PrintToStringParamName());

TEST(HostAllGather, RefusesWhatTheMailboxDoesNotHold) {
  ThreadRanks fabric(1, 4);
  HostAllGather gather(fabric.View(0));
  HostStream stream;
  std::vector<Pack> data(8);
  EXPECT_TRUE(gather.Accepts(64));
  EXPECT_FALSE(gather.Accepts(80));
  EXPECT_THROW(gather.Enqueue(Contiguous(data, 5), data.data(), stream), std::invalid_argument);
  EXPECT_THROW(gather.Enqueue(Contiguous(data, 0), data.data(), stream), std::invalid_argument);
}

TEST(HostAllGather, RefusesASecondStream) {
  ThreadRanks fabric(1, 4);
  HostAllGather gather(fabric.View(0));
  HostStream first;
  HostStream second;
  std::vector<Pack> data(4);
  gather.Enqueue(Contiguous(data, 1), data.data(), first);
  EXPECT_THROW(gather.Enqueue(Contiguous(data, 1), data.data(), second), std::invalid_argument);
  gather.Enqueue(Contiguous(data, 1), data.data(), first);
}

TEST_P(HostAllGatherTest, CopiesInputsItCannotReadInPlaceAndCountsThem) {
  ThreadRanks fabric(2, 8);
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> copies{0};
  fabric.Run([&](int rank) {
    HostAllGather gather(fabric.View(rank), GetParam());
    HostStream stream;
    const std::vector<Pack> plain = TestInput(0, rank, 8);
    const auto* bytes = reinterpret_cast<const std::byte*>(plain.data());
    std::vector<Pack> output(16);

    if (gather.Enqueue(Contiguous(plain, 8), output.data(), stream)) ++wrong;
    wrong += WrongWords(output, 0, 2, 8);

    // Four bytes off a 16-byte boundary.
    std::vector<Pack> shifted(9);
    auto* shifted_bytes = reinterpret_cast<std::byte*>(shifted.data()) + 4;
    std::memcpy(shifted_bytes, bytes, 128);
    output.assign(16, Pack{});
    if (gather.Enqueue({shifted_bytes, 1, 128, 128}, output.data(), stream)) ++copies;
    wrong += WrongWords(output, 0, 2, 8);

    // Four rows of 32 bytes, 48 bytes apart.
    std::vector<Pack> strided(12);
    auto* strided_bytes = reinterpret_cast<std::byte*>(strided.data());
    for (std::ptrdiff_t row = 0; row < 4; ++row) {
      std::memcpy(strided_bytes + row * 48, bytes + row * 32, 32);
    }
    output.assign(16, Pack{});
    if (gather.Enqueue({strided_bytes, 4, 32, 48}, output.data(), stream)) ++copies;
    wrong += WrongWords(output, 0, 2, 8);
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(copies, 2u * 2u);
}

// A graph of gathers of different sizes, replayed an odd number of times with new inputs.
TEST_P(HostAllGatherTest, ReplaysAsAGraph) {
  const std::vector<std::int64_t> sizes = {5, 1, 70};
  ThreadRanks fabric(3, 70);
  std::atomic<std::uint64_t> wrong{0};
  fabric.Run([&](int rank) {
    HostAllGather gather(fabric.View(rank), GetParam());
    HostStream stream;
    std::vector<std::vector<Pack>> inputs;
    std::vector<std::vector<Pack>> outputs;
    for (const std::int64_t packs : sizes) {
      inputs.emplace_back(static_cast<std::size_t>(packs));
      outputs.emplace_back(static_cast<std::size_t>(3 * packs));
    }
    stream.BeginCapture();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      gather.Enqueue(Contiguous(inputs[i], sizes[i]), outputs[i].data(), stream);
    }
    const HostGraph graph = stream.EndCapture();
    for (int replay = 0; replay < 7; ++replay) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const auto fresh = TestInput(replay * 3 + static_cast<int>(i), rank, sizes[i]);
        std::copy(fresh.begin(), fresh.end(), inputs[i].begin());
      }
      stream.Replay(graph);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        wrong += WrongWords(outputs[i], replay * 3 + static_cast<int>(i), 3, sizes[i]);
      }
    }
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(fabric.Leftover(), 0u);
}

// Rank 2 comes when the others have published and wait.
TEST_P(HostAllGatherTest, MarksWhatItDoesAndWhomItWaitsFor) {
  constexpr int kRanks = 3;
  constexpr int kCtas = 2;
  constexpr std::int64_t kThreads = std::int64_t{kCtas} * kGatherThreads;
  ThreadRanks fabric(kRanks, 70);
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::vector<std::uint64_t>> times(
      kRanks,
      std::vector<std::uint64_t>(static_cast<std::size_t>(TraceView::Words(kRanks, kThreads))));
  std::atomic<int> entered{0};
  fabric.Run([&](int rank) {
    HostAllGather gather(fabric.View(rank), GetParam());
    HostStream stream;
    const std::vector<Pack> input = TestInput(0, rank, 70);
    std::vector<Pack> output(std::size_t{kRanks} * 70);
    while (rank == 2 && entered < 2) std::this_thread::yield();
    if (rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ++entered;
    gather.Enqueue(Contiguous(input, 70), output.data(), stream,
                   {times[static_cast<std::size_t>(rank)].data(), kThreads});
    wrong += WrongWords(output, 0, kRanks, 70);
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(fabric.Leftover(), 0u);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<TraceTimes> ctas =
        ReadTrace(times[static_cast<std::size_t>(rank)].data(), kRanks, kCtas, kGatherThreads);
    ASSERT_EQ(ctas.size(), 2u);
    for (const TraceTimes& cta : ctas) {
      EXPECT_LE(cta.start, cta.published);
      EXPECT_LE(cta.start, cta.first_arrival);
      EXPECT_LE(cta.published, cta.last_arrival());
      EXPECT_LE(cta.last_arrival(), cta.done);
      if (rank == 2) continue;
      EXPECT_EQ(cta.awaited_for[2], cta.last_arrival());
      EXPECT_GT(cta.awaited_for[2], cta.published);
    }
  }
}

}  // namespace
}  // namespace mailbench
