// Under mpirun, with a driver that needs no GPU: its memory is the host's, so the test can use the
// addresses of a view.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
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

FakeDriver& fake = FakeDriver::Get();

// Each rank's GPU is the one of its number.
std::unique_ptr<SymmetricRegion> AllocateUnicast(std::size_t bytes, HandleExchange& exchange) {
  fake.UseDevice(TestRanks().rank());
  return AllocateUnicast(fake.table(), TestRanks(), TestRanks().rank(), bytes, exchange);
}

std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes, const FdExchangeHooks& hooks = {},
                                          std::chrono::milliseconds deadline = kLong) {
  const auto exchange = MakeFdHandleExchange(fake.table(), TestRanks(), deadline, hooks);
  return AllocateUnicast(bytes, *exchange);
}

const MakeRegion kMake = [](const FdExchangeHooks& hooks) { return Allocate(16, hooks); };

void ExpectWorks(std::size_t bytes) {
  const auto region = Allocate(bytes);
  EXPECT_EQ(region->view().bytes, bytes);
  EXPECT_EQ(region->view().multicast, nullptr);
  // One mapping a share, the own one included.
  const int ranks = TestRanks().size();
  EXPECT_EQ(fake.Alive(),
            Each(ranks, "handle") + ", " + Each(ranks, "range") + ", " + Each(ranks, "mapping"));
  ExpectSharedByAll(region->view());
  region->Free();
  EXPECT_TRUE(region->view().peers.empty());
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

TEST(UnicastRegion, SharesAreZeroedAndSeenByAll) {
  fake.Reset();
  const std::ptrdiff_t fds = OpenFds();
  for (const std::size_t bytes :
       {std::size_t{16}, FakeDriver::kGranularity, FakeDriver::kGranularity + 1}) {
    ExpectWorks(bytes);
  }
  EXPECT_EQ(OpenFds(), fds);
}

TEST(UnicastRegion, TheSizeIsTheLargestThatAnyRankNeeds) {
  fake.Reset();
  const auto region = Allocate(TestRanks().rank() == 0 ? 3 * FakeDriver::kGranularity : 16);
  std::byte* const last = region->view().local() + 3 * FakeDriver::kGranularity - 1;
  EXPECT_EQ(*last, std::byte{0});
  TestRanks().Barrier();
  region->Free();
  ExpectNoMisuse();
}

TEST(UnicastRegion, AnyCallThatFailsOnAnyRankFailsAlikeAndLeavesNothing) {
  if (TestRanks().size() > 8) GTEST_SKIP() << "thousands of cases, which fewer ranks have covered";
  const int cases = ExpectEveryFailureIsSharedAndLeavesNothing(kMake);
  // Granularity, create, memset, synchronise, export; reserve, map, access a share; imports.
  const int size = TestRanks().size();
  EXPECT_EQ(cases, size * (5 + 3 * size + (size - 1)));
}

// Handles that any process of the fabric may import: no descriptor is involved.
TEST(UnicastRegionAcrossHosts, SharesAreSeenByAllAndAnyCallThatFailsFailsAlike) {
  if (TestRanks().size() > 8) GTEST_SKIP() << "thousands of cases, which fewer ranks have covered";
  const int cases = ExpectEveryFailureIsSharedAndLeavesNothing([](const FdExchangeHooks&) {
    const auto exchange = MakeFabricHandleExchange(FakeDriver::table(), TestRanks());
    return AllocateUnicast(16, *exchange);
  });
  const int size = TestRanks().size();
  EXPECT_EQ(cases, size * (5 + 3 * size + (size - 1)));
}

TEST(HandleExchange, IsByDescriptorsOnOneHostAndByFabricAcrossHosts) {
  const auto exchange = MakeHandleExchange(FakeDriver::table(), TestRanks(), kLong);
  EXPECT_EQ(exchange->type(), TestRanks().one_host() ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                     : CU_MEM_HANDLE_TYPE_FABRIC);
}

TEST(UnicastRegion, ARankThatSendsNoDescriptorFailsAlikeAndLeavesNothing) {
  if (TestRanks().size() == 1 || TestRanks().size() > 8) GTEST_SKIP() << "for 2 to 8 ranks";
  for (int silent = 0; silent < TestRanks().size(); ++silent) {
    fake.Reset();
    const std::ptrdiff_t fds = OpenFds();
    std::string directory;
    FdExchangeHooks hooks;
    hooks.sends = TestRanks().rank() != silent;
    hooks.socket_bound = [&](const std::string& path, const FdMessage&) { directory = path; };
    const Outcome outcome = OutcomeOf([&] { Allocate(16, hooks, std::chrono::milliseconds(200)); });
    EXPECT_EQ(outcome.first, ExitCode::kMachine);
    EXPECT_NE(outcome.second.find("came from rank " + std::to_string(silent) + " within"),
              std::string::npos)
        << outcome.second;
    ExpectFailedAlike(outcome, fds, directory);
    ExpectWorks(16);
  }
}

TEST(UnicastRegion, RefusesWhatCannotBeRoundedUp) {
  fake.Reset();
  const std::ptrdiff_t fds = OpenFds();
  const Outcome outcome = OutcomeOf([] { Allocate(SIZE_MAX); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  EXPECT_NE(outcome.second.find("18446744073709551615 bytes"), std::string::npos);
  ExpectFailedAlike(outcome, fds, "");
}

TEST(UnicastRegion, AFailureToGiveBackIsSaidByAll) {
  if (TestRanks().size() > 8) GTEST_SKIP() << "for up to 8 ranks";
  ExpectFailuresOfFreeAreSaidByAll(kMake, {"cuMemUnmap", "cuMemAddressFree", "cuMemRelease"});
}

TEST(UnicastRegion, ADeviceThatCannotSynchroniseKeepsTheRegion) {
  fake.Reset();
  const auto region = Allocate(16);
  if (TestRanks().rank() == TestRanks().size() - 1) {
    fake.FailCall("cuCtxSynchronize", 0, CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(OutcomeOf([&] { region->Free(); }).first, ExitCode::kMachine);
  EXPECT_NE(fake.Alive(), "");
  ExpectSharedByAll(region->view());
  region->Free();
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

TEST(UnicastRegion, WhatWasNotFreedStaysMapped) {
  fake.Reset();
  SymmetricView view;
  {
    const auto region = Allocate(16);
    view = region->view();
  }
  ExpectSharedByAll(view);
  fake.Reset();
}

}  // namespace
}  // namespace mailbench
