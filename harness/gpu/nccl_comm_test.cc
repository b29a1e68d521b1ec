// Run under mpirun with several rank counts: every test holds for any of them. The library is a
// fake, so no GPU is needed; the last rank is the one that differs from the others.
#include "harness/gpu/nccl_comm.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/nccl_window.h"
#include "harness/ranks/test_ranks.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {
namespace {

bool IsLast() { return TestRanks().rank() == TestRanks().size() - 1; }

// How the vote speaks of the last rank when it fails alone.
std::string LastAlone() {
  return TestRanks().size() == 1 ? "" : "rank " + std::to_string(TestRanks().size() - 1) + ": ";
}

// How an error names a rank of this host.
std::string Where(int rank) {
  return " failed on rank " + std::to_string(rank) + " on " + TestRanks().hosts().front() + ": ";
}

// How the vote tells an error of `call` on the last rank alone.
std::string LastFailed(const std::string& call) {
  return LastAlone() + call + Where(TestRanks().size() - 1);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class NcclTest : public testing::Test {
 protected:
  static constexpr const char* kVariables[] = {
      "MAILBENCH_NCCL",   "MAILBENCH_MULTICAST", "NCCL_MULTI_RANK_GPU_ENABLE",
      "NCCL_NVLS_ENABLE", "NCCL_MAX_CTAS",       "FAKE_NCCL_VERSION",
      "FAKE_NCCL_FAIL",   "FAKE_NCCL_WINDOW"};

  void SetUp() override {
    for (const char* name : kVariables) unsetenv(name);
    setenv("MAILBENCH_NCCL", FAKE_NCCL, 1);
    library_ = dlopen(FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr);
  }
  // Whatever a test did, nothing is left behind on any rank.
  void TearDown() override {
    EXPECT_EQ(Look<int>("fake_nccl_comms"), 0);
    EXPECT_EQ(Look<int>("fake_nccl_memory"), 0);
    EXPECT_EQ(Look<int>("fake_nccl_windows"), 0);
    TestRanks().Barrier();
  }

  template <typename Value>
  Value& Look(const char* name) {
    return *static_cast<Value*>(dlsym(library_, name));
  }

  void FailOnLast(const char* call) {
    if (IsLast()) setenv("FAKE_NCCL_FAIL", call, 1);
  }

  // The reason not to make a communicator, which all ranks have to share.
  std::string Refusal(int ranks_on_a_gpu) {
    const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), ranks_on_a_gpu);
    EXPECT_EQ(result.made, nullptr);
    EXPECT_EQ(
        TestRanks().Gather(result.reason),
        std::vector<std::string>(static_cast<std::size_t>(TestRanks().size()), result.reason));
    return result.reason;
  }

 private:
  void* library_ = nullptr;
};

TEST_F(NcclTest, GathersAndIsFreed) {
  const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(result.made, nullptr) << result.reason;
  EXPECT_EQ(result.reason, "");
  const auto ranks = static_cast<std::size_t>(TestRanks().size());
  const auto rank = static_cast<std::size_t>(TestRanks().rank());
  const std::string own(16, static_cast<char>('a' + TestRanks().rank()));
  std::string all(16 * ranks, '.');
  result.made->AllGather(own.data(), all.data(), 16, nullptr);
  EXPECT_EQ(all.substr(16 * rank, 16), own);
  result.made->Free();
}

TEST_F(NcclTest, WhatMayBlockIsAStepAndTheGatherIsNot) {
  HeartbeatSlot slot{};
  std::vector<std::string> steps;
  const Heartbeat heartbeat(&slot, [&](const HeartbeatState& state) {
    if (!state.step.empty()) steps.push_back(state.step);
  });
  const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(result.made, nullptr) << result.reason;
  const NcclResult<SymmetricWindow> window = SymmetricWindow::Create(*result.made, 4096);
  ASSERT_NE(window.made, nullptr) << window.reason;
  std::string all(16 * static_cast<std::size_t>(TestRanks().size()), '.');
  result.made->AllGather(all.data(), all.data(), 16, nullptr);
  window.made->Free();
  result.made->Free();
  std::vector<std::string> expected = {
      "ncclCommInitRank",         "ncclMemAlloc", "ncclCommWindowRegister",
      "ncclCommWindowDeregister", "ncclMemFree",  "ncclCommDestroy"};
  if (TestRanks().rank() == 0) expected.insert(expected.begin(), "ncclGetUniqueId");
  EXPECT_EQ(steps, expected);
}

TEST_F(NcclTest, AllRanksHaveTheUniqueIdOfRank0) {
  const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(result.made, nullptr) << result.reason;
  NcclUniqueId expected{};
  result.made->api().get_unique_id(&expected);
  EXPECT_EQ(std::memcmp(&Look<NcclUniqueId>("fake_nccl_id"), &expected, sizeof expected), 0);
  result.made->Free();
}

TEST_F(NcclTest, MissingOnOneRankIsMissingOnAll) {
  if (IsLast()) setenv("MAILBENCH_NCCL", "/nowhere/libnccl.so.2", 1);
  const std::string reason = Refusal(1);
  EXPECT_TRUE(reason.starts_with(LastAlone() + "NCCL")) << reason;
  EXPECT_TRUE(Contains(reason, "/nowhere/libnccl.so.2")) << reason;
}

TEST_F(NcclTest, VersionsHaveToBeEqual) {
  if (TestRanks().size() == 1) GTEST_SKIP() << "one rank has one version";
  if (IsLast()) setenv("FAKE_NCCL_VERSION", "22809", 1);
  EXPECT_EQ(Refusal(1), "rank 0 has NCCL 2.32.3, but rank " +
                            std::to_string(TestRanks().size() - 1) + " has NCCL 2.28.9");
}

TEST_F(NcclTest, SharedGpusNeedVersionAndVariable) {
  const std::string need =
      "several ranks on one GPU need NCCL 2.30.3 or later and NCCL_MULTI_RANK_GPU_ENABLE=1 "
      "(scripts/launch/mps sets it): ";
  EXPECT_EQ(Refusal(2), need + "it is not set to 1");

  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  setenv("FAKE_NCCL_VERSION", "23002", 1);
  EXPECT_EQ(Refusal(2), need + "this is NCCL 2.30.2");
  setenv("FAKE_NCCL_VERSION", "23003", 1);
  const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 2);
  ASSERT_NE(result.made, nullptr) << result.reason;
  result.made->Free();

  if (IsLast()) setenv("NCCL_MULTI_RANK_GPU_ENABLE", "0", 1);
  EXPECT_EQ(Refusal(2), LastAlone() + need + "it is not set to 1");
}

TEST_F(NcclTest, InitFailingOnOneRankFailsOnAll) {
  FailOnLast("ncclCommInitRank");
  const std::string reason = Refusal(1);
  EXPECT_TRUE(reason.starts_with(LastFailed("ncclCommInitRank") +
                                 "ncclInvalidUsage, invalid usage: "
                                 "ncclCommInitRank was told to fail ("))
      << reason;
  EXPECT_TRUE(Contains(reason, "nccl_comm.cc:")) << reason;
}

TEST_F(NcclTest, NoUniqueIdFailsOnAll) {
  if (TestRanks().rank() == 0) setenv("FAKE_NCCL_FAIL", "ncclGetUniqueId", 1);
  EXPECT_TRUE(Contains(Refusal(1), "ncclGetUniqueId failed"));
}

TEST_F(NcclTest, ErrorsNameTheCallAndTheRank) {
  const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(result.made, nullptr) << result.reason;
  setenv("FAKE_NCCL_FAIL", "ncclAllGather", 1);
  std::vector<char> all(static_cast<std::size_t>(TestRanks().size()));
  try {
    result.made->AllGather("x", all.data(), 1, nullptr);
    ADD_FAILURE() << "no error";
  } catch (const SystemError& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("ncclAllGather" + Where(TestRanks().rank()) + "nccl"))
        << error.what();
  }

  EXPECT_EQ(result.made->AsyncError(), "");
  Look<int>("fake_nccl_async") = static_cast<int>(NcclCode::kInProgress);
  EXPECT_EQ(result.made->AsyncError(), "");
  Look<int>("fake_nccl_async") = static_cast<int>(NcclCode::kRemoteError);
  EXPECT_TRUE(Contains(result.made->AsyncError(), Where(TestRanks().rank()) + "ncclRemoteError"));
  Look<int>("fake_nccl_async") = 0;

  FailOnLast("ncclCommDestroy");
  EXPECT_THROW(result.made->Free(), SystemError);
}

TEST_F(NcclTest, MulticastIsOffWhereItIsForbidden) {
  for (const char* before : {static_cast<const char*>(nullptr), "0", "2"}) {
    for (const bool forbidden : {false, true}) {
      unsetenv("NCCL_NVLS_ENABLE");
      unsetenv("MAILBENCH_MULTICAST");
      if (before != nullptr) setenv("NCCL_NVLS_ENABLE", before, 1);
      if (forbidden) setenv("MAILBENCH_MULTICAST", "0", 1);
      const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 1);
      ASSERT_NE(result.made, nullptr) << result.reason;
      EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), forbidden ? "0" : before);
      result.made->Free();
    }
  }
}

TEST_F(NcclTest, MulticastThatOneRankForbidsIsOffOnAll) {
  unsetenv("NCCL_NVLS_ENABLE");
  const bool last = TestRanks().rank() == TestRanks().size() - 1;
  setenv("MAILBENCH_MULTICAST", last ? "off" : "1", 1);
  const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(result.made, nullptr) << result.reason;
  EXPECT_STREQ(std::getenv("NCCL_NVLS_ENABLE"), "0");
  result.made->Free();
}

TEST_F(NcclTest, KernelsOfRanksThatShareAGpuFitTogether) {
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  const struct {
    int ranks_on_a_gpu;
    const char* before;
    const char* after;
  } cases[] = {{1, nullptr, nullptr},
               {4, nullptr, "8"},
               {8, nullptr, "4"},
               {72, nullptr, "1"},
               {4, "16", "16"}};
  for (const auto& [ranks_on_a_gpu, before, after] : cases) {
    unsetenv("NCCL_MAX_CTAS");
    if (before != nullptr) setenv("NCCL_MAX_CTAS", before, 1);
    const NcclResult<NcclComm> result = NcclComm::Create(TestRanks(), ranks_on_a_gpu);
    ASSERT_NE(result.made, nullptr) << result.reason;
    EXPECT_STREQ(std::getenv("NCCL_MAX_CTAS"), after);
    result.made->Free();
  }
}

// A communicator, and the reason not to make a window on it, which all ranks have to share.
class NcclWindowTest : public NcclTest {
 protected:
  std::string Outcome() {
    NcclResult<NcclComm> comm = NcclComm::Create(TestRanks(), 1);
    if (comm.made == nullptr) return "no communicator: " + comm.reason;
    NcclResult<SymmetricWindow> window = SymmetricWindow::Create(*comm.made, 4096);
    EXPECT_EQ(window.made == nullptr, !window.reason.empty());
    EXPECT_EQ(
        TestRanks().Gather(window.reason),
        std::vector<std::string>(static_cast<std::size_t>(TestRanks().size()), window.reason));
    if (window.made != nullptr) {
      std::memset(window.made->data(), 1, window.made->bytes());
      window.made->Free();
    }
    comm.made->Free();
    return window.reason;
  }
};

TEST_F(NcclWindowTest, IsRegisteredAndFreed) { EXPECT_EQ(Outcome(), ""); }

TEST_F(NcclWindowTest, OldVersionsHaveNone) {
  setenv("MAILBENCH_NCCL", FAKE_OLD_NCCL, 1);
  setenv("FAKE_NCCL_VERSION", "22605", 1);
  EXPECT_EQ(Outcome(), "NCCL 2.26.5 has no symmetric windows: 2.27 was the first with them");
}

TEST_F(NcclWindowTest, FailingOnOneRankFailsOnAll) {
  for (const std::string call : {"ncclMemAlloc", "ncclCommWindowRegister"}) {
    FailOnLast(call.c_str());
    const std::string reason = Outcome();
    EXPECT_TRUE(reason.starts_with(LastFailed(call))) << reason;
  }
}

TEST_F(NcclWindowTest, NoWindowOnOneRankIsNoneOnAll) {
  if (IsLast()) setenv("FAKE_NCCL_WINDOW", "null", 1);
  EXPECT_TRUE(Outcome().starts_with(LastAlone() + "NCCL 2.32.3 registers no symmetric windows"));
}

TEST_F(NcclWindowTest, FailingToFreeIsSaidOnAll) {
  NcclResult<NcclComm> comm = NcclComm::Create(TestRanks(), 1);
  ASSERT_NE(comm.made, nullptr) << comm.reason;
  for (const char* call : {"ncclCommWindowDeregister", "ncclMemFree"}) {
    unsetenv("FAKE_NCCL_FAIL");
    NcclResult<SymmetricWindow> window = SymmetricWindow::Create(*comm.made, 4096);
    ASSERT_NE(window.made, nullptr) << window.reason;
    FailOnLast(call);
    EXPECT_THROW(window.made->Free(), SystemError);
  }
  comm.made->Free();
}

}  // namespace
}  // namespace mailbench
