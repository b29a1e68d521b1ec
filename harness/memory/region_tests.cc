#include "harness/memory/region_tests.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "harness/gpu/fake_driver.h"
#include "harness/memory/open_fds.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

void ExpectWorks(const MakeRegion& make) {
  const auto region = make({});
  ExpectSharedByAll(region->view());
  region->Free();
  EXPECT_EQ(FakeDriver::Get().Alive(), "");
  ExpectNoMisuse();
}

void ExpectFailureOf(const MakeRegion& make, const std::string& function, int number, int rank) {
  SCOPED_TRACE(function + " " + std::to_string(number) + " on rank " + std::to_string(rank));
  FakeDriver& fake = FakeDriver::Get();
  fake.Reset();
  const std::ptrdiff_t fds = OpenFds();
  std::string directory;
  FdExchangeHooks hooks;
  hooks.socket_bound = [&](const std::string& path, const FdMessage&) { directory = path; };
  if (TestRanks().rank() == rank) fake.FailCall(function, number, CUDA_ERROR_OUT_OF_MEMORY);
  const Outcome outcome = OutcomeOf([&] { make(hooks); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
  const std::string expected = function + " failed on rank " + std::to_string(rank) + " on " +
                               TestRanks().hosts()[static_cast<std::size_t>(rank)] +
                               ": CUDA_ERROR_OUT_OF_MEMORY: out of memory";
  EXPECT_NE(outcome.second.find(expected), std::string::npos) << outcome.second;
  ExpectFailedAlike(outcome, fds, directory);
  ExpectWorks(make);
}

void ExpectFreeFails(const MakeRegion& make, const std::string& function, int rank) {
  SCOPED_TRACE(function + " on rank " + std::to_string(rank));
  FakeDriver& fake = FakeDriver::Get();
  fake.Reset();
  const auto region = make({});
  if (TestRanks().rank() == rank) fake.FailCall(function, 0, CUDA_ERROR_INVALID_VALUE);
  const Outcome outcome = OutcomeOf([&] { region->Free(); });
  EXPECT_EQ(outcome.first, ExitCode::kMachine);
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

}  // namespace

Outcome OutcomeOf(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {ExitCode::kPassed, ""};
}

std::string Each(int count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

void ExpectNoMisuse() {
  const std::vector<std::string>& misuse = FakeDriver::Get().misuse();
  EXPECT_TRUE(misuse.empty()) << misuse.front();
}

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

void ExpectFailedAlike(const Outcome& outcome, std::ptrdiff_t fds, const std::string& directory) {
  for (const std::string& other : TestRanks().Gather(outcome.second)) {
    EXPECT_EQ(other, outcome.second);
  }
  EXPECT_EQ(TestRanks().Max(static_cast<double>(outcome.first)),
            static_cast<double>(outcome.first));
  EXPECT_EQ(FakeDriver::Get().Alive(), "");
  EXPECT_EQ(OpenFds(), fds);
  EXPECT_TRUE(directory.empty() || !std::filesystem::exists(directory)) << directory;
  ExpectNoMisuse();
}

std::vector<std::map<std::string, int>> CountCalls(const MakeRegion& make) {
  FakeDriver& fake = FakeDriver::Get();
  fake.Reset();
  const auto region = make({});
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

int ExpectEveryFailureIsSharedAndLeavesNothing(const MakeRegion& make) {
  int cases = 0;
  const std::vector<std::map<std::string, int>> calls = CountCalls(make);
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    for (const auto& [function, count] : calls[rank]) {
      for (int number = 0; number < count; ++number, ++cases) {
        ExpectFailureOf(make, function, number, static_cast<int>(rank));
      }
    }
  }
  return cases;
}

void ExpectFailuresOfFreeAreSaidByAll(const MakeRegion& make,
                                      const std::vector<std::string>& functions) {
  for (int rank = 0; rank < TestRanks().size(); ++rank) {
    for (const std::string& function : functions) ExpectFreeFails(make, function, rank);
  }
  FakeDriver::Get().Reset();
}

}  // namespace mailbench
