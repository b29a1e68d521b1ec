// The protocol on the host machine, ranks as threads: right as it ships, and wrong in the expected
// way when one of its rules is broken.
#include "kernels/lamport/protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/lamport/launch.h"
#include "kernels/lamport/thread_ranks.h"
#include "kernels/machine/host/host_machine.h"

namespace mailbench {
namespace {

thread_local int this_rank = 0;  // ranks are threads here

// The last rank's packs land with their first word well before the others, as a fabric may have it.
class TornStores : public HostMachine {
 public:
  using HostMachine::HostMachine;
  void store_relaxed_sys_v4(Pack* to, Pack p) const {
    store_u32(&to->word[0], p.word[0]);
    if (this_rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (int i = 1; i < kPackWords; ++i) store_u32(&to->word[i], p.word[i]);
  }
};
static_assert(Machine<TornStores>);

struct Outcome {
  std::uint64_t wrong = 0;
  std::uint64_t leftover = 0;
  bool gave_up = false;
};

// Calls of the given sizes, in packs, on every rank. A rank that polls for 2 s gives up.
template <class M, class Rules>
Outcome Gather(int ranks, const std::vector<std::int64_t>& sizes) {
  ThreadRanks fabric(ranks, *std::max_element(sizes.begin(), sizes.end()) + 1);
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<bool> give_up{false};
  std::atomic<int> finished{0};
  std::thread deadline([&] {
    for (int i = 0; i < 200 && finished < ranks; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (finished < ranks) give_up = true;
  });
  fabric.Run([&](int rank) {
    this_rank = rank;
    GridRunner runner;
    runner.GiveUpWhen(&give_up);
    GatherState state{};
    for (int call = 0; call < static_cast<int>(sizes.size()) && !give_up; ++call) {
      const std::int64_t packs = sizes[static_cast<std::size_t>(call)];
      const std::vector<Pack> input = TestInput(call, rank, packs);
      std::vector<Pack> output(static_cast<std::size_t>(ranks * packs));
      AllGatherArgs args;
      args.input = input.data();
      args.output = output.data();
      args.packs = packs;
      args.state = &state;
      args.mailbox = fabric.View(rank);
      const AllGatherPlan plan = PlanAllGather(packs, ranks);
      runner.Run({plan.ctas, plan.threads}, sizeof(AllGatherShared), [&](HostThread& thread) {
        M m(thread);
        AllGather<Publish::kUnicast, 4, Rules>(m, args,
                                               *static_cast<AllGatherShared*>(thread.shared()));
      });
      wrong += WrongWords(output, call, ranks, packs);
    }
    ++finished;
  });
  deadline.join();
  return {wrong, fabric.Leftover(), give_up};
}

TEST(AllGather, IsExactAndLeavesNothingBehindWhateverTheSizes) {
  for (const int ranks : {1, 2, 3, 4, 5, 8, 9}) {
    const Outcome outcome =
        Gather<HostMachine, Faithful>(ranks, {1, 64, 1, 65, 200, 1, 1, 3, 130, 2, 63, 64, 1});
    EXPECT_EQ(outcome.wrong, 0u) << ranks;
    EXPECT_EQ(outcome.leftover, 0u) << ranks;
    EXPECT_FALSE(outcome.gave_up) << ranks;
  }
}

TEST(AllGather, TakesPacksThatLandWordByWord) {
  const Outcome outcome = Gather<TornStores, Faithful>(2, {3, 1, 3});
  EXPECT_EQ(outcome.wrong, 0u);
  EXPECT_EQ(outcome.leftover, 0u);
}

struct PollsOneWord : Faithful {
  static constexpr int kPolledWords = 1;
};
TEST(AllGather, PollingOneWordTakesATornPack) {
  EXPECT_GT((Gather<TornStores, PollsOneWord>(2, {3, 1, 3}).wrong), 0u);
}

struct SanitisesNothing : Faithful {
  static constexpr bool kSanitises = false;
};
TEST(AllGather, WithoutSanitisingASentinelInTheInputIsAwaitedForEver) {
  EXPECT_TRUE((Gather<HostMachine, SanitisesNothing>(2, {64}).gave_up));
}

struct SkipsOneReset : Faithful {
  static constexpr std::int64_t kPackLeftUnreset = 2;
};
TEST(AllGather, ASkippedResetIsFoundInTheMailbox) {
  // One pack of each of two sources on each of two ranks; none of its words is the sentinel.
  EXPECT_EQ((Gather<HostMachine, SkipsOneReset>(2, {3}).leftover), 2u * 2u * kPackWords);
  EXPECT_EQ((Gather<HostMachine, SkipsOneReset>(2, {2}).leftover), 0u);
}

// The fourth call uses the generation of the first again: what that left unreset is taken for
// payload.
TEST(AllGather, ASkippedResetIsReadByALaterCall) {
  EXPECT_GT((Gather<HostMachine, SkipsOneReset>(2, {3, 1, 1, 3}).wrong), 0u);
}

TEST(AllGather, TheLastCtaAdvancesTheGenerationAndClearsTheCount) {
  ThreadRanks fabric(1, 1000);
  GatherState state{};
  GridRunner runner;
  std::vector<Pack> packs(1000);
  for (std::uint32_t call = 0; call < 7; ++call) {
    EXPECT_EQ(state.generation, call % kGenerations);
    EXPECT_EQ(state.arrivals, 0u);
    AllGatherArgs args;
    args.input = packs.data();
    args.output = packs.data();
    args.packs = 1000;
    args.state = &state;
    args.mailbox = fabric.View(0);
    runner.Run({16, 64}, sizeof(AllGatherShared), [&](HostThread& thread) {
      HostMachine m(thread);
      AllGather<Publish::kUnicast, 1>(m, args, *static_cast<AllGatherShared*>(thread.shared()));
    });
  }
}

}  // namespace
}  // namespace mailbench
