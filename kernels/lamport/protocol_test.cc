// The protocols on the host machine, ranks as threads: right as they ship, and wrong in the
// expected way when one of their rules is broken.
#include "kernels/lamport/protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/lamport/launch.h"
#include "kernels/lamport/overlapped.h"
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

// Rank 1 publishes late: its peer polls before.
class LateStores : public HostMachine {
 public:
  using HostMachine::HostMachine;
  void store_relaxed_sys_v4(Pack* to, Pack p) const {
    if (this_rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    HostMachine::store_relaxed_sys_v4(to, p);
  }
};
static_assert(Machine<LateStores>);

struct Outcome {
  std::uint64_t wrong = 0;
  std::uint64_t leftover = 0;
  bool gave_up = false;
};

// One kind for all calls, or kinds that take turns.
using Kinds = std::vector<GatherKind>;
const Kinds kLamport = {GatherKind::kLamport};
const Kinds kOverlapped = {GatherKind::kOverlapped};
const Kinds kAlternating = {GatherKind::kLamport, GatherKind::kOverlapped};
const std::vector<Kinds> kAllKinds = {kLamport, kOverlapped, kAlternating};

struct Calls {
  int ranks = 0;
  std::vector<std::int64_t> sizes;  // of the calls, in packs
  Kinds kinds = kLamport;
  // The last rank begins only when the first pack of rank 0's first call and its last are there.
  bool last_rank_late = false;
};

template <class M, class Rules>
void Call(GatherKind kind, GridRunner& runner, const AllGatherArgs& args) {
  const AllGatherPlan plan = PlanAllGather(args.packs, args.mailbox.layout.ranks);
  runner.Run({plan.ctas, plan.threads}, sizeof(AllGatherShared), [&](HostThread& thread) {
    M m(thread);
    if (kind == GatherKind::kLamport) {
      AllGather<Publish::kUnicast, 4, Rules>(m, args,
                                             *static_cast<AllGatherShared*>(thread.shared()));
    } else {
      OverlappedAllGather<Publish::kUnicast, 4, Arrival::kRelaxed, Trigger::kAfterWait, Rules>(
          m, args);
    }
  });
}

void AwaitRankZero(const MailboxView& mailbox, std::int64_t packs) {
  for (const std::int64_t pack : {std::int64_t{0}, packs - 1}) {
    std::atomic_ref<std::uint32_t> word(mailbox.local[mailbox.layout.Slot(0, 0, pack)].word[3]);
    while (word.load(std::memory_order_relaxed) == kSentinel) std::this_thread::yield();
  }
}

// A rank that has not finished after 2 s gives up where `hangs`; otherwise it has a minute.
template <class M, class Rules>
Outcome Gather(const Calls& calls, bool hangs = false) {
  ThreadRanks fabric(calls.ranks, *std::max_element(calls.sizes.begin(), calls.sizes.end()) + 1);
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<bool> give_up{false};
  std::atomic<int> finished{0};
  std::thread deadline([&] {
    for (int i = 0; i < (hangs ? 200 : 6000) && finished < calls.ranks; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (finished < calls.ranks) give_up = true;
  });
  fabric.Run([&](int rank) {
    this_rank = rank;
    GridRunner runner;
    runner.GiveUpWhen(&give_up);
    GatherState state{};
    if (calls.last_rank_late && rank == calls.ranks - 1) {
      AwaitRankZero(fabric.View(rank), calls.sizes[0]);
    }
    for (std::size_t call = 0; call < calls.sizes.size() && !give_up; ++call) {
      const std::int64_t packs = calls.sizes[call];
      const std::vector<Pack> input = TestInput(static_cast<int>(call), rank, packs);
      std::vector<Pack> output(static_cast<std::size_t>(calls.ranks * packs));
      AllGatherArgs args;
      args.input = input.data();
      args.output = output.data();
      args.packs = packs;
      args.state = &state;
      args.mailbox = fabric.View(rank);
      Call<M, Rules>(calls.kinds[call % calls.kinds.size()], runner, args);
      wrong += WrongWords(output, static_cast<int>(call), calls.ranks, packs);
    }
    ++finished;
  });
  deadline.join();
  return {wrong, fabric.Leftover(), give_up};
}

void ExpectExact(const Outcome& outcome) {
  EXPECT_EQ(outcome.wrong, 0u);
  EXPECT_EQ(outcome.leftover, 0u);
  EXPECT_FALSE(outcome.gave_up);
}

TEST(AllGather, IsExactAndLeavesNothingBehindWhateverTheSizes) {
  for (const Kinds& kinds : kAllKinds) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 9}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, kind " << static_cast<int>(kinds[0])
                                      << (kinds.size() > 1 ? ", alternating" : ""));
      ExpectExact(Gather<HostMachine, Faithful>(
          {ranks, {1, 64, 1, 65, 200, 1, 1, 3, 130, 2, 63, 64, 1}, kinds}));
    }
  }
}

TEST(AllGather, IsExactOnAsManyRanksAsThereMayBe) {
  for (const Kinds& kinds : kAllKinds) {
    ExpectExact(Gather<HostMachine, Faithful>({kMaxRanks, {1, 65, 1, 2}, kinds}));
  }
}

TEST(AllGather, IsExactWithMoreCtasThanAreResident) {
  for (const Kinds& kinds : kAllKinds) {
    ExpectExact(Gather<HostMachine, Faithful>({2, {2560, 1, 2559, 2560}, kinds}));
  }
}

TEST(AllGather, TakesPacksThatLandWordByWord) {
  for (const Kinds& kinds : kAllKinds) {
    ExpectExact(Gather<TornStores, Faithful>({2, {3, 1, 3}, kinds}));
  }
}

struct PollsOneWord : Faithful {
  static constexpr int kPolledWords = 1;
};
TEST(AllGather, PollingOneWordTakesATornPack) {
  for (const Kinds& kinds : kAllKinds) {
    EXPECT_GT((Gather<TornStores, PollsOneWord>({2, {3, 1, 3}, kinds}).wrong), 0u);
  }
}

struct SanitisesNothing : Faithful {
  static constexpr bool kSanitises = false;
};
TEST(AllGather, WithoutSanitisingASentinelInTheInputIsAwaitedForEver) {
  for (const Kinds& kinds : {kLamport, kOverlapped}) {
    EXPECT_TRUE((Gather<HostMachine, SanitisesNothing>({2, {64}, kinds}, true).gave_up));
  }
}

struct SkipsOneReset : Faithful {
  static constexpr std::int64_t kPackLeftUnreset = 2;
};
TEST(AllGather, ASkippedResetIsFoundInTheMailbox) {
  for (const Kinds& kinds : {kLamport, kOverlapped}) {
    // One pack of each of two sources on each of two ranks; none of its words is the sentinel.
    EXPECT_EQ((Gather<HostMachine, SkipsOneReset>({2, {3}, kinds}).leftover), 2u * 2u * kPackWords);
    EXPECT_EQ((Gather<HostMachine, SkipsOneReset>({2, {2}, kinds}).leftover), 0u);
  }
}

// The fourth call uses the generation of the first again: what that left unreset is taken for
// payload.
TEST(AllGather, ASkippedResetIsReadByALaterCall) {
  for (const Kinds& kinds : kAllKinds) {
    EXPECT_GT((Gather<LateStores, SkipsOneReset>({2, {3, 1, 1, 3}, kinds}).wrong), 0u);
  }
}

// L9. The late rank finds its first packs waiting: its first threads are done, and the last of them
// advances the generation, before the threads beside it have read it.
struct ArrivesBeforeReading : Faithful {
  static constexpr bool kBarrierBeforeArrival = false;
};
TEST(AllGather, AnArrivalBeforeTheReadsLetsThreadsReadTheAdvancedGeneration) {
  const Calls calls = {2, {192}, kOverlapped, true};
  EXPECT_TRUE((Gather<HostMachine, ArrivesBeforeReading>(calls, true).gave_up));
  ExpectExact(Gather<HostMachine, Faithful>(calls));
}

TEST(AllGather, TheLastCtaAdvancesTheGenerationAndClearsTheCount) {
  ThreadRanks fabric(1, 1000);
  GatherState state{};
  GridRunner runner;
  std::vector<Pack> packs(1000);
  for (std::uint32_t call = 0; call < 14; ++call) {
    EXPECT_EQ(state.generation, call % kGenerations);
    EXPECT_EQ(state.arrivals, 0u);
    AllGatherArgs args;
    args.input = packs.data();
    args.output = packs.data();
    args.packs = 1000;
    args.state = &state;
    args.mailbox = fabric.View(0);
    Call<HostMachine, Faithful>(call % 4 < 2 ? GatherKind::kLamport : GatherKind::kOverlapped,
                                runner, args);
  }
}

TEST(OverlappedAllGather, ACallThatIsGivenUpAdvancesNothing) {
  ThreadRanks fabric(2, 130);
  GatherState state{};
  GridRunner runner;
  const std::atomic<bool> give_up{true};
  runner.GiveUpWhen(&give_up);
  std::vector<Pack> input(130);
  std::vector<Pack> output(260);
  AllGatherArgs args;
  args.input = input.data();
  args.output = output.data();
  args.packs = 130;
  args.state = &state;
  args.mailbox = fabric.View(0);
  Call<HostMachine, Faithful>(GatherKind::kOverlapped, runner, args);
  EXPECT_EQ(state.generation, 0u);
  EXPECT_EQ(state.arrivals, 3u);
}

}  // namespace
}  // namespace mailbench
