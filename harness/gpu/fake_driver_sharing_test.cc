// How the fake's memory gets to other ranks, and what a test can ask of the fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <thread>

#include "harness/gpu/fake_rank.h"

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kBytes = FakeRank::kBytes;

volatile int& IntAt(CUdeviceptr address) { return *reinterpret_cast<volatile int*>(address); }

CUresult ExportMemory(FakeRank& calls, CUmemFabricHandle* out) {
  return calls.driver.MemExportToShareableHandle(out, calls.memory, CU_MEM_HANDLE_TYPE_FABRIC, 0);
}

CUresult ImportMemory(FakeRank& calls, CUmemFabricHandle* in) {
  return calls.driver.MemImportFromShareableHandle(&calls.memory, in, CU_MEM_HANDLE_TYPE_FABRIC);
}

// Rank 0's memory, mapped by both.
void Share(int rank, FakeVote& vote, FakeRank& calls, CUmemFabricHandle& shared) {
  if (rank == 0) {
    EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    EXPECT_EQ(ExportMemory(calls, &shared), CUDA_SUCCESS);
    EXPECT_EQ(calls.MapMemory(), CUDA_SUCCESS);
    EXPECT_EQ(calls.driver.MemsetD32(calls.own, 0, kBytes / 4), CUDA_SUCCESS);
  }
  vote.arrive_and_wait();
  if (rank == 1) {
    EXPECT_EQ(ImportMemory(calls, &shared), CUDA_SUCCESS);
    EXPECT_EQ(calls.MapMemory(), CUDA_SUCCESS);
  }
  vote.arrive_and_wait();
}

TEST(FakeSharing, AFabricHandleIsTheMemoryItself) {
  CUmemFabricHandle shared{};
  for (const auto& outcome : RunFakeRanks(2, [&](int rank, FakeVote&vote, FakeRank&calls) {
         Share(rank, vote, calls, shared);
         if (rank == 1) IntAt(calls.own + kBytes - 4) = 7;
         vote.arrive_and_wait();
         EXPECT_EQ(IntAt(calls.own + kBytes - 4), 7);
         EXPECT_EQ(calls.FreeMemory(), CUDA_SUCCESS);
       })) {
    EXPECT_THAT(outcome.misuse, IsEmpty());
    EXPECT_EQ(outcome.alive, "");
  }
}

TEST(FakeSharing, ALateMappingLosesStoresUntilItIsPublished) {
  CUmemFabricHandle shared{};
  RunFakeRanks(2, [&](int rank, FakeVote& vote, FakeRank& calls) {
    FakeDriver::Current().options().late_mappings = true;
    Share(rank, vote, calls, shared);
    if (rank == 1) {
      IntAt(calls.own) = 7;
      FakeDriver::Current().PublishMappings();
      IntAt(calls.own + 4) = 8;
    }
    vote.arrive_and_wait();
    EXPECT_EQ(IntAt(calls.own), 0);
    EXPECT_EQ(IntAt(calls.own + 4), 8);
  });
}

TEST(FakeSharing, MemoryThatIsGoneCannotBeImported) {
  const auto outcomes = RunFakeRanks(1, [&](int, FakeVote&, FakeRank& calls) {
    CUmemFabricHandle shared{};
    EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    EXPECT_EQ(ExportMemory(calls, &shared), CUDA_SUCCESS);
    EXPECT_EQ(calls.driver.MemRelease(calls.memory), CUDA_SUCCESS);
    EXPECT_EQ(ImportMemory(calls, &shared), CUDA_ERROR_INVALID_HANDLE);
  });
  EXPECT_THAT(outcomes[0].misuse, ElementsAre("import: the memory is gone"));
}

TEST(FakeSharing, AHandleOfAnotherKindThanAskedForIsRefused) {
  const auto outcomes = RunFakeRanks(1, [&](int, FakeVote&, FakeRank& calls) {
    calls.type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemFabricHandle shared{};
    EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    EXPECT_EQ(ExportMemory(calls, &shared), CUDA_ERROR_INVALID_VALUE);
  });
  EXPECT_THAT(outcomes[0].misuse, ElementsAre("export: not made for such handles"));
}

TEST(FakeSharing, AnExportedDescriptorIsAliveUntilItIsClosed) {
  RunFakeRanks(1, [&](int, FakeVote&, FakeRank& calls) {
    calls.type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    int fd = -1;
    EXPECT_EQ(calls.driver.MemExportToShareableHandle(&fd, calls.memory, calls.type, 0),
              CUDA_SUCCESS);
    EXPECT_EQ(calls.driver.MemRelease(calls.memory), CUDA_SUCCESS);
    EXPECT_EQ(FakeDriver::Current().Alive(), "1 descriptor");
    close(fd);
    EXPECT_EQ(FakeDriver::Current().Alive(), "");
  });
}

TEST(FakeSharing, RanksThatAreThreadsHaveFakesOfTheirOwn) {
  const auto outcomes = RunFakeRanks(3, [&](int rank, FakeVote&, FakeRank& calls) {
    if (rank == 1) FakeDriver::Current().FailCall("cuMemCreate", 0, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(calls.CreateMemory(), rank == 1 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
  });
  EXPECT_EQ(outcomes[0].alive, "1 handle");
  EXPECT_EQ(outcomes[1].alive, "");
  EXPECT_EQ(FakeDriver::Get().Alive(), "");
}

TEST(FakeStalls, TheCallThatWasAskedForWaitsUntilWaitsEnd) {
  FakeDriver fake;
  fake.StallCall("cuMemCreate", 1);
  std::atomic<int> created = 0;
  std::thread rank([&] {
    const FakeDriverScope scope(fake);
    FakeRank calls;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
      ++created;
    }
  });
  while (!fake.stalled()) std::this_thread::yield();
  EXPECT_EQ(created, 1);
  fake.EndWaits();
  rank.join();
  EXPECT_EQ(fake.Alive(), "3 handles");
}

TEST(FakeStalls, ABindThatWaitsForADeviceGivesUpWhenWaitsEnd) {
  FakeDriver fake;
  std::atomic<bool> binds = false;
  std::thread rank([&] {
    const FakeDriverScope scope(fake);
    FakeRank calls;
    EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    EXPECT_EQ(calls.CreateObject(2), CUDA_SUCCESS);
    EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
    binds = true;
    EXPECT_EQ(calls.Bind(), CUDA_ERROR_TIMEOUT);
  });
  while (!binds) std::this_thread::yield();
  fake.EndWaits();
  rank.join();
  EXPECT_THAT(fake.misuse(), ElementsAre("bind: waits for devices that are never added, 1 of 2"));
}

TEST(FakeFailures, WhatIsStillUsedAfterACallToGiveBackHasFailedIsNoMisuse) {
  FakeDriver fake;
  const FakeDriverScope scope(fake);
  FakeRank calls;
  EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
  EXPECT_EQ(calls.MapMemory(), CUDA_SUCCESS);
  fake.FailCall("cuMemUnmap", 0, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(calls.FreeMemory(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(fake.misuse(), IsEmpty());
  EXPECT_EQ(fake.Alive(), "1 range, 1 mapping");
}

}  // namespace
}  // namespace mailbench
