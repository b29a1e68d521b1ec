// Multicast objects of the fake driver between ranks that are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

#include "harness/gpu/fake_rank.h"

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::milliseconds kShort{50};
constexpr std::size_t kBytes = FakeRank::kBytes;
constexpr CUdeviceptr kPack = 16;  // bytes of a store
using Words = std::array<std::uint32_t, 4>;

Words ReadAt(CUdeviceptr address) {
  Words words{};
  std::memcpy(words.data(), reinterpret_cast<const void*>(address), sizeof words);
  return words;
}

void* At(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// The right sequence up to the first use.
void Prepare(int rank, int ranks, FakeVote& vote, FakeRank& calls, CUmemFabricHandle& shared) {
  EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
  EXPECT_EQ(calls.MapMemory(), CUDA_SUCCESS);
  if (rank == 0) {
    EXPECT_EQ(calls.CreateObject(static_cast<unsigned>(ranks)), CUDA_SUCCESS);
    EXPECT_EQ(calls.ExportObject(&shared), CUDA_SUCCESS);
  }
  vote.arrive_and_wait();
  if (rank != 0) {
    EXPECT_EQ(calls.ImportObject(&shared), CUDA_SUCCESS);
  }
  EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
  vote.arrive_and_wait();
  EXPECT_EQ(calls.Bind(), CUDA_SUCCESS);
  EXPECT_EQ(calls.MapObject(), CUDA_SUCCESS);
  EXPECT_EQ(calls.Access(calls.multicast), CUDA_SUCCESS);
  vote.arrive_and_wait();
}

void GiveBack(FakeVote& vote, FakeRank& calls) {
  vote.arrive_and_wait();
  EXPECT_EQ(calls.FreeObject(), CUDA_SUCCESS);
  vote.arrive_and_wait();
  EXPECT_EQ(calls.FreeMemory(), CUDA_SUCCESS);
}

void ExpectClean(const std::vector<FakeOutcome>& outcomes) {
  for (const FakeOutcome& outcome : outcomes) {
    EXPECT_THAT(outcome.misuse, IsEmpty());
    EXPECT_EQ(outcome.alive, "");
  }
}

TEST(FakeMulticast, AStoreReachesTheMemoryOfAllRanks) {
  for (const int ranks : {1, 2, 3, 8}) {
    CUmemFabricHandle shared{};
    ExpectClean(RunFakeRanks(ranks, [&](int rank, FakeVote& vote, FakeRank& calls) {
      Prepare(rank, ranks, vote, calls, shared);
      const CUdeviceptr offset = kPack * static_cast<CUdeviceptr>(rank);
      const auto value = static_cast<std::uint32_t>(rank);
      const Words words{value, value + 1, value + 2, 7};
      EXPECT_TRUE(FakeDriver::Current().MulticastStore(At(calls.multicast + kBytes / 2 + offset),
                                                       words.data(), sizeof words));
      vote.arrive_and_wait();
      for (std::uint32_t from = 0; from < static_cast<std::uint32_t>(ranks); ++from) {
        EXPECT_EQ(ReadAt(calls.own + kBytes / 2 + kPack * from),
                  (Words{from, from + 1, from + 2, 7}));
      }
      GiveBack(vote, calls);
    }));
  }
}

TEST(FakeMulticast, AStoreIsLostUntilTheMappingIsPublished) {
  CUmemFabricHandle shared{};
  ExpectClean(RunFakeRanks(2, [&](int rank, FakeVote& vote, FakeRank& calls) {
    FakeDriver& fake = FakeDriver::Current();
    fake.options().late_mappings = true;
    Prepare(rank, 2, vote, calls, shared);
    const Words words{1, 2, 3, 4};
    const Words before = ReadAt(calls.own + kPack);
    vote.arrive_and_wait();
    EXPECT_TRUE(fake.MulticastStore(At(calls.multicast + kPack), words.data(), sizeof words));
    vote.arrive_and_wait();
    EXPECT_EQ(ReadAt(calls.own + kPack), before);
    vote.arrive_and_wait();
    fake.PublishMappings();
    EXPECT_TRUE(fake.MulticastStore(At(calls.multicast + kPack), words.data(), sizeof words));
    vote.arrive_and_wait();
    EXPECT_EQ(ReadAt(calls.own + kPack), words);
    GiveBack(vote, calls);
  }));
}

TEST(FakeMulticast, TheCopiesAreTheDevicesMemories) {
  CUmemFabricHandle shared{};
  ExpectClean(RunFakeRanks(3, [&](int rank, FakeVote& vote, FakeRank& calls) {
    Prepare(rank, 3, vote, calls, shared);
    const auto copies = FakeDriver::Current().MulticastCopies(At(calls.multicast + 32), 16);
    ASSERT_EQ(copies.size(), 3u);
    vote.arrive_and_wait();
    if (rank == 1) {
      for (std::byte* const copy : copies) *copy = std::byte{0x5b};
    }
    vote.arrive_and_wait();
    EXPECT_EQ(ReadAt(calls.own + 32)[0] & 0xff, 0x5bu);
    GiveBack(vote, calls);
  }));
}

TEST(FakeMulticast, BindAndMapWaitForTheLastDevice) {
  CUmemFabricHandle shared{};
  std::atomic<int> through = 0;
  ExpectClean(RunFakeRanks(3, [&](int rank, FakeVote& vote, FakeRank& calls) {
    EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    EXPECT_EQ(calls.MapMemory(), CUDA_SUCCESS);
    if (rank == 0) {
      EXPECT_EQ(calls.CreateObject(3), CUDA_SUCCESS);
      EXPECT_EQ(calls.ExportObject(&shared), CUDA_SUCCESS);
    }
    vote.arrive_and_wait();
    if (rank != 0) {
      EXPECT_EQ(calls.ImportObject(&shared), CUDA_SUCCESS);
    }
    if (rank == 2) {
      std::this_thread::sleep_for(kShort);
      EXPECT_EQ(through, 0);
    }
    EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
    if (rank == 1) {
      EXPECT_EQ(calls.MapObject(), CUDA_SUCCESS);
      ++through;
      EXPECT_EQ(calls.Bind(), CUDA_SUCCESS);
    } else {
      EXPECT_EQ(calls.Bind(), CUDA_SUCCESS);
      ++through;
      EXPECT_EQ(calls.MapObject(), CUDA_SUCCESS);
    }
    GiveBack(vote, calls);
  }));
}

TEST(FakeMulticast, ObjectsBeyondTheSlotsAreOutOfMemory) {
  ExpectClean(RunFakeRanks(1, [&](int, FakeVote&, FakeRank& calls) {
    FakeDriver::Current().options().multicast_slots = 2;
    EXPECT_EQ(calls.CreateObject(1), CUDA_SUCCESS);
    const auto first = calls.object;
    EXPECT_EQ(calls.CreateObject(1), CUDA_SUCCESS);
    const auto second = calls.object;
    EXPECT_EQ(calls.CreateObject(1), CUDA_ERROR_OUT_OF_MEMORY);
    // Given back, a slot can be had again.
    EXPECT_EQ(calls.driver.MemRelease(first), CUDA_SUCCESS);
    EXPECT_EQ(calls.CreateObject(1), CUDA_SUCCESS);
    EXPECT_EQ(calls.driver.MemRelease(second), CUDA_SUCCESS);
    EXPECT_EQ(calls.driver.MemRelease(calls.object), CUDA_SUCCESS);
  }));
}

TEST(FakeMulticast, AnImportThatIsLateGetsAnEmptyObject) {
  CUmemFabricHandle shared{};
  const auto outcomes = RunFakeRanks(
      2,
      [&](int rank, FakeVote& vote, FakeRank& calls) {
        if (rank == 0) {
          EXPECT_EQ(calls.CreateObject(2), CUDA_SUCCESS);
          EXPECT_EQ(calls.ExportObject(&shared), CUDA_SUCCESS);
          EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
          EXPECT_EQ(calls.driver.MemRelease(calls.object), CUDA_SUCCESS);
          vote.arrive_and_wait();
          return;
        }
        vote.arrive_and_wait();
        EXPECT_EQ(calls.ImportObject(&shared), CUDA_SUCCESS);
        EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
        EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
        EXPECT_EQ(calls.Bind(), CUDA_ERROR_TIMEOUT);
      },
      kShort);
  EXPECT_THAT(outcomes[0].misuse, IsEmpty());
  EXPECT_THAT(outcomes[1].misuse,
              ElementsAre("bind: waits for devices that are never added, 1 of 2"));
}

TEST(FakeMulticast, AnImportByDescriptorIsLateTooOnceTheCreatorHasLetGo) {
  const auto outcomes = RunFakeRanks(
      1,
      [&](int, FakeVote&, FakeRank& calls) {
        calls.type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        EXPECT_EQ(calls.CreateObject(1), CUDA_SUCCESS);
        int fd = -1;
        EXPECT_EQ(calls.driver.MemExportToShareableHandle(&fd, calls.object, calls.type, 0),
                  CUDA_SUCCESS);
        const FileDescriptor closes(fd);
        EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
        CUmemGenericAllocationHandle other = 0;
        void* const in = reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd));
        // The very same object while the creator holds it: the device is there.
        EXPECT_EQ(calls.driver.MemImportFromShareableHandle(&other, in, calls.type), CUDA_SUCCESS);
        EXPECT_EQ(calls.driver.MulticastAddDevice(other, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(calls.driver.MemRelease(calls.object), CUDA_SUCCESS);
        EXPECT_EQ(calls.driver.MemRelease(other), CUDA_SUCCESS);
        EXPECT_EQ(calls.driver.MemImportFromShareableHandle(&other, in, calls.type), CUDA_SUCCESS);
        EXPECT_EQ(calls.driver.MulticastAddDevice(other, 0), CUDA_SUCCESS);
        EXPECT_EQ(calls.driver.MemRelease(other), CUDA_SUCCESS);
      },
      kShort);
  EXPECT_THAT(outcomes[0].misuse, ElementsAre("add device: the device was added already"));
  EXPECT_EQ(outcomes[0].alive, "");
}

TEST(FakeMulticast, GranularitiesAreNotThoseOfMemory) {
  ExpectClean(RunFakeRanks(1, [&](int, FakeVote&, FakeRank& calls) {
    CUmulticastObjectProp what{};
    what.numDevices = 4;
    what.size = 1;
    std::size_t minimum = 0;
    std::size_t recommended = 0;
    EXPECT_EQ(
        calls.driver.MulticastGetGranularity(&minimum, &what, CU_MULTICAST_GRANULARITY_MINIMUM),
        CUDA_SUCCESS);
    EXPECT_EQ(calls.driver.MulticastGetGranularity(&recommended, &what,
                                                   CU_MULTICAST_GRANULARITY_RECOMMENDED),
              CUDA_SUCCESS);
    EXPECT_GT(minimum, FakeDriver::kGranularity);
    EXPECT_GT(recommended, minimum);
  }));
}

TEST(FakeMulticast, IsNotPermittedForFabricHandlesWithoutAChannel) {
  ExpectClean(RunFakeRanks(1, [&](int, FakeVote&, FakeRank& calls) {
    FakeDriver::Current().options().fabric = false;
    EXPECT_EQ(calls.CreateObject(1), CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(calls.CreateMemory(), CUDA_ERROR_NOT_PERMITTED);
    CUmemFabricHandle shared{};
    EXPECT_EQ(calls.ImportObject(&shared), CUDA_ERROR_NOT_PERMITTED);
  }));
}

}  // namespace
}  // namespace mailbench
