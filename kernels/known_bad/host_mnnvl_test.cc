#include "kernels/known_bad/host_mnnvl.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "kernels/lamport/thread_ranks.h"

namespace mailbench {
namespace {

constexpr MnnvlVariant kAll[] = {MnnvlVariant::kNewer, MnnvlVariant::kOlder,
                                 MnnvlVariant::kRegisterCapacity, MnnvlVariant::kPolledCallStride,
                                 MnnvlVariant::kPolledCapacity};
// Without the older generation, whose ranks can wait for each other for ever on any transport.
constexpr MnnvlVariant kEnding[] = {MnnvlVariant::kNewer, MnnvlVariant::kRegisterCapacity,
                                    MnnvlVariant::kPolledCallStride, MnnvlVariant::kPolledCapacity};

GatherInput Contiguous(const std::vector<Pack>& input) {
  const auto bytes = static_cast<std::int64_t>(input.size()) * kPackBytes;
  return {reinterpret_cast<const std::byte*>(input.data()), 1, bytes, bytes};
}

// Words of rank `own`'s output that differ from the inputs; sentinels count as 0, except its own
// where `own_unchanged`.
std::uint64_t Wrong(const std::vector<Pack>& output, int call, int ranks, std::int64_t packs,
                    int own, bool own_unchanged) {
  if (!own_unchanged) return WrongWords(output, call, ranks, packs);
  std::vector<Pack> sanitised = output;
  std::uint64_t wrong = 0;
  const std::vector<Pack> input = TestInput(call, own, packs);
  for (std::int64_t i = 0; i < packs * kPackWords; ++i) {
    const auto at = static_cast<std::size_t>(own * packs + i / kPackWords);
    std::uint32_t& word = sanitised[at].word[i % kPackWords];
    wrong += word != input[static_cast<std::size_t>(i / kPackWords)].word[i % kPackWords];
    if (word == kSentinel) word = 0;
  }
  return wrong + WrongWords(sanitised, call, ranks, packs);
}

// Calls of `sizes` packs a rank, on `ranks` ranks. Returns the wrong words.
std::uint64_t GatherCalls(MnnvlVariant variant, int ranks, const std::vector<std::int64_t>& sizes) {
  const bool own_unchanged =
      variant != MnnvlVariant::kPolledCallStride && variant != MnnvlVariant::kPolledCapacity;
  ThreadRanks fabric(ranks, 300);
  std::atomic<std::uint64_t> wrong{0};
  fabric.Run([&](int rank) {
    HostMnnvl gather(fabric.View(rank), variant);
    HostStream stream;
    for (int call = 0; call < static_cast<int>(sizes.size()); ++call) {
      const std::int64_t packs = sizes[static_cast<std::size_t>(call)];
      const std::vector<Pack> input = TestInput(call, rank, packs);
      std::vector<Pack> output(static_cast<std::size_t>(packs * ranks));
      gather.Enqueue(Contiguous(input), output.data(), stream);
      wrong += Wrong(output, call, ranks, packs, rank, own_unchanged);
    }
  });
  return wrong;
}

TEST(HostMnnvl, GathersSizesThatChange) {
  for (const MnnvlVariant variant : kEnding) {
    EXPECT_EQ(GatherCalls(variant, 3, {1, 300, 2, 129, 1, 1, 300, 7, 128, 5}), 0u)
        << static_cast<int>(variant);
  }
}

TEST(HostMnnvl, GathersAlone) {
  for (const MnnvlVariant variant : kAll) {
    EXPECT_EQ(GatherCalls(variant, 1, {1, 300, 2, 129, 1}), 0u) << static_cast<int>(variant);
  }
}

TEST(HostMnnvl, CopiesAnInputItCannotReadInPlace) {
  ThreadRanks fabric(1, 4);
  HostMnnvl gather(fabric.View(0), MnnvlVariant::kNewer);
  HostStream stream;
  // Two rows of a pack, a pack apart.
  const std::vector<Pack> strided = {{{1, 2, 3, 4}}, {}, {{5, 6, 7, 8}}, {}};
  std::vector<Pack> output(2);
  EXPECT_TRUE(gather.Enqueue({reinterpret_cast<const std::byte*>(strided.data()), 2, 16, 32},
                             output.data(), stream));
  EXPECT_EQ(output[0].word[3], 4u);
  EXPECT_EQ(output[1].word[0], 5u);
  const std::vector<Pack> plain(2);
  EXPECT_FALSE(gather.Enqueue(Contiguous(plain), output.data(), stream));
}

TEST(HostMnnvl, RefusesWhatTheMailboxDoesNotHold) {
  ThreadRanks fabric(1, 4);
  HostMnnvl gather(fabric.View(0), MnnvlVariant::kNewer);
  HostStream stream;
  std::vector<Pack> data(5);
  EXPECT_THROW(gather.Enqueue(Contiguous(data), data.data(), stream), std::invalid_argument);
}

}  // namespace
}  // namespace mailbench
