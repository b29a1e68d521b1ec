// Under mpirun, over the fake driver: every step of set-up and teardown, on every rank.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "harness/error.h"
#include "harness/gpu/fake_driver.h"
#include "harness/memory/gpu_region.h"
#include "harness/memory/open_fds.h"
#include "harness/memory/region_tests.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLong{120'000};
constexpr BindRetry kPatient{.pause = std::chrono::milliseconds(1), .limit = kLong};
constexpr BindRetry kImpatient{.pause = std::chrono::milliseconds(1),
                               .limit = std::chrono::milliseconds(5)};

FakeDriver& fake = FakeDriver::Get();

enum class Handles { kFd, kFabric };

std::unique_ptr<HandleExchange> MakeExchange(const DriverTable& driver, Handles handles,
                                             const FdExchangeHooks& hooks = {}) {
  if (handles == Handles::kFabric) return MakeFabricHandleExchange(driver, TestRanks());
  return MakeFdHandleExchange(driver, TestRanks(), kLong, hooks);
}

std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes, Handles handles = Handles::kFd,
                                          const FdExchangeHooks& hooks = {},
                                          const DriverTable& driver = FakeDriver::table(),
                                          const BindRetry& retry = kPatient) {
  const auto exchange = MakeExchange(driver, handles, hooks);
  fake.UseDevice(TestRanks().rank());
  return AllocateMulticast(driver, TestRanks(), TestRanks().rank(), bytes, *exchange, retry);
}

MakeRegion Maker(Handles handles) {
  return [handles](const FdExchangeHooks& hooks) { return Allocate(16, handles, hooks); };
}

class MulticastRegion : public testing::TestWithParam<Handles> {
 protected:
  MulticastRegion() { fake.Reset(); }
  const std::ptrdiff_t fds_ = OpenFds();
};

INSTANTIATE_TEST_SUITE_P(Handles, MulticastRegion, testing::Values(Handles::kFd, Handles::kFabric),
                         [](const auto& handles) {
                           return handles.param == Handles::kFd ? "Descriptors" : "Fabric";
                         });

TEST_P(MulticastRegion, SharesAreZeroedAndSeenByAllAndFreed) {
  for (const std::size_t bytes :
       {std::size_t{16}, FakeDriver::kGranularity, FakeDriver::kGranularity + 1}) {
    const auto region = Allocate(bytes, GetParam());
    EXPECT_EQ(region->view().bytes, bytes);
    EXPECT_NE(region->view().multicast, nullptr);
    ExpectSharedByAll(region->view());
    region->Free();
    EXPECT_TRUE(region->view().peers.empty());
    EXPECT_EQ(region->view().multicast, nullptr);
    EXPECT_EQ(fake.Alive(), "");
    ExpectNoMisuse();
  }
  EXPECT_EQ(OpenFds(), fds_);
}

TEST_P(MulticastRegion, OneStoreReachesEveryShare) {
  const auto ranks = static_cast<std::size_t>(TestRanks().size());
  const auto region = Allocate(ranks * sizeof(std::uint32_t), GetParam());
  const SymmetricView& view = region->view();
  const auto own = static_cast<std::uint32_t>(view.rank);
  const std::uint32_t word = 100 + own;
  EXPECT_TRUE(
      fake.MulticastStore(OffsetMulticast(view.multicast, own * sizeof word), &word, sizeof word));
  TestRanks().Barrier();
  for (std::byte* const peer : view.peers) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(reinterpret_cast<const std::uint32_t*>(peer)[rank], 100 + rank);
    }
  }
  TestRanks().Barrier();
  region->Free();
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

TEST_P(MulticastRegion, APartIsThatMuchOfEveryShareAndOfTheObject) {
  const auto region = Allocate(FakeDriver::kGranularity, GetParam());
  const SymmetricView part = region->Part(kSymmetricAlignment, 256);
  EXPECT_EQ(part.bytes, 256u);
  EXPECT_EQ(part.multicast, OffsetMulticast(region->view().multicast, kSymmetricAlignment));
  for (std::size_t peer = 0; peer < part.peers.size(); ++peer) {
    EXPECT_EQ(part.peers[peer], region->view().peers[peer] + kSymmetricAlignment);
  }
  region->Free();
  ExpectNoMisuse();
}

TEST_P(MulticastRegion, TheSizeIsTheLargestThatAnyRankNeeds) {
  const std::size_t largest = 3 * FakeDriver::kGranularity;
  const auto region = Allocate(TestRanks().rank() == 0 ? largest : 16, GetParam());
  EXPECT_EQ(region->view().local()[largest - 1], std::byte{0});
  TestRanks().Barrier();
  region->Free();
  ExpectNoMisuse();
}

TEST_P(MulticastRegion, AnyCallThatFailsOnAnyRankFailsAlikeAndLeavesNothing) {
  if (TestRanks().size() > 4) GTEST_SKIP() << "hundreds of cases, which fewer ranks have covered";
  const int cases = ExpectEveryFailureIsSharedAndLeavesNothing(Maker(GetParam()));
  if (TestRanks().rank() == 0) std::printf("%d cases\n", cases);
  // Of a rank: both granularities, create, memset, synchronise, export; reserve, map, access a
  // share; imports; get and add the device, bind; reserve, map, access the object. Once: create and
  // export the object; on all others, import it.
  const int size = TestRanks().size();
  EXPECT_EQ(cases, size * (6 + 3 * size + (size - 1) + 3 + 3) + 2 + (size - 1));
}

TEST_P(MulticastRegion, AFailureToGiveBackIsSaidByAll) {
  if (TestRanks().size() > 4) GTEST_SKIP() << "fewer ranks have covered it";
  ExpectFailuresOfFreeAreSaidByAll(
      Maker(GetParam()), {"cuMemUnmap", "cuMemAddressFree", "cuMulticastUnbind", "cuMemRelease"});
}

TEST_P(MulticastRegion, ADeviceThatCannotSynchroniseKeepsTheRegion) {
  const auto region = Allocate(16, GetParam());
  if (TestRanks().rank() == TestRanks().size() - 1) {
    fake.FailCall("cuCtxSynchronize", 0, CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(OutcomeOf([&] { region->Free(); }).first, ExitCode::kMachine);
  EXPECT_NE(region->view().multicast, nullptr);
  ExpectSharedByAll(region->view());
  region->Free();
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

TEST_P(MulticastRegion, ABindThatIsNotReadyIsTriedAgain) {
  for (int rank = 0; rank < TestRanks().size(); ++rank) {
    fake.Reset();
    const bool is_stalled = TestRanks().rank() == rank;
    if (is_stalled) fake.FailCall("cuMulticastBindMem", 0, CUDA_ERROR_SYSTEM_NOT_READY);
    const auto region = Allocate(16, GetParam());
    EXPECT_EQ(fake.calls().at("cuMulticastBindMem"), is_stalled ? 2 : 1);
    region->Free();
    EXPECT_EQ(fake.Alive(), "");
    ExpectNoMisuse();
  }
}

TEST_P(MulticastRegion, ABindThatFailsOtherwiseIsNotTriedAgain) {
  if (TestRanks().rank() == 0) {
    fake.FailCall("cuMulticastBindMem", 0, CUDA_ERROR_INVALID_VALUE);
  }
  const Outcome outcome = OutcomeOf([&] { Allocate(16, GetParam()); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  EXPECT_EQ(fake.calls().at("cuMulticastBindMem"), 1);
  ExpectFailedAlike(outcome, fds_, "");
}

TEST_P(MulticastRegion, ABindThatIsNeverReadyEndsOnAllRanks) {
  DriverTable driver = fake.table();
  if (TestRanks().rank() == TestRanks().size() - 1) {
    driver.MulticastBindMem = [](auto...) -> CUresult { return CUDA_ERROR_SYSTEM_NOT_READY; };
  }
  const Outcome outcome = OutcomeOf([&] { Allocate(16, GetParam(), {}, driver, kImpatient); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  EXPECT_NE(outcome.second.find("cuMulticastBindMem failed on rank " +
                                std::to_string(TestRanks().size() - 1)),
            std::string::npos)
      << outcome.second;
  ExpectFailedAlike(outcome, fds_, "");
}

TEST_P(MulticastRegion, WithoutASlotItSaysSo) {
  for (const char* function : {"cuMulticastCreate", "cuMulticastBindMem"}) {
    if (TestRanks().rank() == 0) fake.FailCall(function, 0, CUDA_ERROR_OUT_OF_MEMORY);
    const Outcome outcome = OutcomeOf([&] { Allocate(16, GetParam()); });
    EXPECT_NE(outcome.second.find("multicast slots of the NVSwitches are used up"),
              std::string::npos)
        << outcome.second;
    ExpectFailedAlike(outcome, fds_, "");
  }
}

// Rank 0 makes the object, and finds that the slots are taken.
TEST_P(MulticastRegion, TheLastSlotIsForOneRegionAfterTheOther) {
  if (TestRanks().rank() == 0) fake.options().multicast_slots = 0;
  ExpectFailedAlike(OutcomeOf([&] { Allocate(16, GetParam()); }), fds_, "");
  if (TestRanks().rank() == 0) fake.options().multicast_slots = 1;
  const auto first = Allocate(16, GetParam());
  const std::string alive = fake.Alive();
  const Outcome outcome = OutcomeOf([&] { Allocate(16, GetParam()); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  EXPECT_NE(outcome.second.find("rank 0"), std::string::npos) << outcome.second;
  EXPECT_NE(outcome.second.find("multicast slots of the NVSwitches are used up"), std::string::npos)
      << outcome.second;
  EXPECT_EQ(fake.Alive(), alive);
  first->Free();
  Allocate(16, GetParam())->Free();
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

// One size and one alignment suit both, whichever of the granularities is the larger.
TEST_P(MulticastRegion, TheGranularityOfMemoryMayBeTheLargerOne) {
  fake.options().memory_granularity = 2 * FakeDriver::kMulticastRecommended;
  const auto region = Allocate(16, GetParam());
  ExpectSharedByAll(region->view());
  region->Free();
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

TEST_P(MulticastRegion, WhereItIsForbiddenNothingIsMade) {
  DriverTable driver = fake.table();
  RefuseMulticast(driver);
  const Outcome outcome = OutcomeOf([&] { Allocate(16, GetParam(), {}, driver); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  EXPECT_EQ(fake.calls().count("cuMulticastCreate"), 0u);
  ExpectFailedAlike(outcome, fds_, "");
}

TEST(MulticastRegionAcrossHosts, WithoutAnImexChannelItSaysSo) {
  fake.Reset();
  const std::ptrdiff_t fds = OpenFds();
  if (TestRanks().rank() == 1) fake.FailCall("cuMemCreate", 0, CUDA_ERROR_NOT_PERMITTED);
  const Outcome outcome = OutcomeOf([] { Allocate(16, Handles::kFabric); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  EXPECT_NE(outcome.second.find("/dev/nvidia-caps-imex-channels"), std::string::npos)
      << outcome.second;
  ExpectFailedAlike(outcome, fds, "");
}

}  // namespace
}  // namespace mailbench
