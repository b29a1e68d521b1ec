// Under mpirun, with a driver that needs no GPU: its memory is the host's, so the test can use the
// addresses of a view.
#include "harness/memory/unicast_region.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/fake_driver.h"
#include "harness/memory/open_fds.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLong{120'000};

FakeDriver& fake = FakeDriver::Get();

// The code and text of an error; {kPassed, ""} when there was none.
using Outcome = std::pair<ExitCode, std::string>;

Outcome OutcomeOf(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::kPassed, ""};
}

std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes, const FdExchangeHooks& hooks = {},
                                          std::chrono::milliseconds deadline = kLong) {
  return AllocateUnicast(fake.table(), TestRanks(), 0, bytes, deadline, hooks);
}

std::string Each(const char* noun) {
  return std::to_string(TestRanks().size()) + " " + noun + (TestRanks().size() == 1 ? "" : "s");
}

void ExpectNoMisuse() { EXPECT_TRUE(fake.misuse().empty()) << fake.misuse().front(); }

void ExpectSharedByAll(const SymmetricView& view) {
  ASSERT_EQ(view.peers.size(), static_cast<std::size_t>(TestRanks().size()));
  EXPECT_EQ(view.rank, TestRanks().rank());
  for (std::size_t i = 0; i < view.bytes; ++i) ASSERT_EQ(view.local()[i], std::byte{0}) << i;
  TestRanks().Barrier();
  const auto next = static_cast<std::size_t>((TestRanks().rank() + 1) % TestRanks().size());
  std::memset(view.peers[next], TestRanks().rank() + 1, view.bytes);
  TestRanks().Barrier();
  for (std::size_t peer = 0; peer < view.peers.size(); ++peer) {
    const std::size_t writer = (peer + view.peers.size() - 1) % view.peers.size();
    EXPECT_EQ(view.peers[peer][view.bytes - 1], static_cast<std::byte>(writer + 1)) << peer;
  }
  TestRanks().Barrier();
}

void ExpectWorks(std::size_t bytes) {
  const auto region = Allocate(bytes);
  EXPECT_EQ(region->view().bytes, bytes);
  EXPECT_EQ(region->view().multicast, nullptr);
  // One mapping a share, the own one included.
  EXPECT_EQ(fake.Alive(), Each("handle") + ", " + Each("range") + ", " + Each("mapping"));
  ExpectSharedByAll(region->view());
  region->Free();
  EXPECT_TRUE(region->view().peers.empty());
  EXPECT_EQ(fake.Alive(), "");
  ExpectNoMisuse();
}

// All ranks saw `outcome`, and nothing is left on this one.
void ExpectFailedAlike(const Outcome& outcome, std::ptrdiff_t fds, const std::string& directory) {
  for (const std::string& other : TestRanks().Gather(outcome.second)) {
    EXPECT_EQ(other, outcome.second);
  }
  EXPECT_EQ(TestRanks().Max(static_cast<double>(outcome.first)),
            static_cast<double>(outcome.first));
  EXPECT_EQ(fake.Alive(), "");
  EXPECT_EQ(OpenFds(), fds);
  EXPECT_TRUE(directory.empty() || !std::filesystem::exists(directory)) << directory;
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

// How often each function is called by an allocation, on each rank.
std::vector<std::map<std::string, int>> CountCalls() {
  fake.Reset();
  const auto region = Allocate(16);
  std::ostringstream text;
  for (const auto& [function, count] : fake.calls()) text << function << ' ' << count << '\n';
  region->Free();
  std::vector<std::map<std::string, int>> calls;
  for (const std::string& each : TestRanks().Gather(text.str())) {
    std::istringstream in(each);
    std::map<std::string, int>& own = calls.emplace_back();
    std::string function;
    for (int count = 0; in >> function >> count;) own[function] = count;
  }
  return calls;
}

void ExpectFailureOf(const std::string& function, int number, int rank) {
  SCOPED_TRACE(function + " " + std::to_string(number) + " on rank " + std::to_string(rank));
  fake.Reset();
  const std::ptrdiff_t fds = OpenFds();
  std::string directory;
  FdExchangeHooks hooks;
  hooks.socket_bound = [&](const std::string& path, const FdMessage&) { directory = path; };
  if (TestRanks().rank() == rank) fake.FailCall(function, number, CUDA_ERROR_OUT_OF_MEMORY);
  const Outcome outcome = OutcomeOf([&] { Allocate(16, hooks); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  const std::string expected = function + " failed on rank " + std::to_string(rank) + " on " +
                               TestRanks().hosts().front() +
                               ": CUDA_ERROR_OUT_OF_MEMORY: out of memory";
  EXPECT_NE(outcome.second.find(expected), std::string::npos) << outcome.second;
  ExpectFailedAlike(outcome, fds, directory);
  ExpectWorks(16);
}

TEST(UnicastRegion, AnyCallThatFailsOnAnyRankFailsAlikeAndLeavesNothing) {
  if (TestRanks().size() > 8) GTEST_SKIP() << "thousands of cases, which fewer ranks have covered";
  int cases = 0;
  const std::vector<std::map<std::string, int>> calls = CountCalls();
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    for (const auto& [function, count] : calls[rank]) {
      for (int number = 0; number < count; ++number, ++cases) {
        ExpectFailureOf(function, number, static_cast<int>(rank));
      }
    }
  }
  // Granularity, create, memset, synchronise, export; reserve, map, access a share; imports.
  const int size = TestRanks().size();
  EXPECT_EQ(cases, size * (5 + 3 * size + (size - 1)));
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
    EXPECT_EQ(outcome.first, ExitCode::kFailed);
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

// Free fails alike too, and the other ranks have given back everything.
void ExpectFreeFails(const std::string& function, int rank) {
  SCOPED_TRACE(function + " on rank " + std::to_string(rank));
  fake.Reset();
  const auto region = Allocate(16);
  if (TestRanks().rank() == rank) fake.FailCall(function, 0, CUDA_ERROR_INVALID_VALUE);
  const Outcome outcome = OutcomeOf([&] { region->Free(); });
  EXPECT_EQ(outcome.first, ExitCode::kFailed);
  EXPECT_NE(outcome.second.find(function + " failed on rank " + std::to_string(rank)),
            std::string::npos)
      << outcome.second;
  for (const std::string& other : TestRanks().Gather(outcome.second)) {
    EXPECT_EQ(other, outcome.second);
  }
  if (TestRanks().rank() != rank) {
    EXPECT_EQ(fake.Alive(), "");
  }
  region->Free();  // once given back, there is nothing to do
  TestRanks().Barrier();
}

TEST(UnicastRegion, AFailureToGiveBackIsSaidByAll) {
  if (TestRanks().size() > 8) GTEST_SKIP() << "for up to 8 ranks";
  for (int rank = 0; rank < TestRanks().size(); ++rank) {
    for (const char* function : {"cuMemUnmap", "cuMemAddressFree", "cuMemRelease"}) {
      ExpectFreeFails(function, rank);
    }
  }
  fake.Reset();
}

TEST(UnicastRegion, ADeviceThatCannotSynchroniseKeepsTheRegion) {
  fake.Reset();
  const auto region = Allocate(16);
  if (TestRanks().rank() == TestRanks().size() - 1) {
    fake.FailCall("cuCtxSynchronize", 0, CUDA_ERROR_INVALID_VALUE);
  }
  EXPECT_EQ(OutcomeOf([&] { region->Free(); }).first, ExitCode::kFailed);
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
