// Sequences that are wrong on purpose, most of them the right one with one step changed: the fake
// reports each by its name, otherwise a test of the right sequence would prove nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "harness/gpu/fake_rank.h"

namespace mailbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::milliseconds kShort{50};
constexpr std::size_t kBytes = FakeRank::kBytes;

void* At(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

bool StoreAt(CUdeviceptr address) {
  const std::array<std::uint32_t, 4> words{1, 2, 3, 4};
  return FakeDriver::Current().MulticastStore(At(address), words.data(), sizeof words);
}

// The right sequence of one rank alone, up to the step of that name.
void DoUntil(const std::string& last, FakeRank& calls) {
  const std::vector<std::pair<std::string, std::function<CUresult()>>> steps = {
      {"create", [&] { return calls.CreateMemory(); }},
      {"map memory", [&] { return calls.MapMemory(); }},
      {"create object", [&] { return calls.CreateObject(1); }},
      {"add", [&] { return calls.AddDevice(); }},
      {"bind", [&] { return calls.Bind(); }},
      {"map object", [&] { return calls.MapObject(); }},
      {"access", [&] { return calls.Access(calls.multicast); }}};
  for (const auto& [name, step] : steps) {
    ASSERT_EQ(step(), CUDA_SUCCESS) << name;
    if (name == last) return;
  }
  FAIL() << "no step " << last;
}

struct Breach {
  std::string name;
  std::string after;  // the last right step
  std::function<void(FakeRank&)> wrong;
  std::string report;
};

void PrintTo(const Breach& breach, std::ostream* out) { *out << breach.name; }

std::string BreachName(const testing::TestParamInfo<Breach>& test) { return test.param.name; }

class FakeBreaches : public testing::TestWithParam<Breach> {};

TEST_P(FakeBreaches, OfOneRankAreReportedByName) {
  FakeDriver fake;
  fake.options().patience = kShort;
  const FakeDriverScope scope(fake);
  FakeRank calls;
  DoUntil(GetParam().after, calls);
  ASSERT_THAT(fake.misuse(), IsEmpty());
  GetParam().wrong(calls);
  EXPECT_THAT(fake.misuse(), ElementsAre(GetParam().report));
}

INSTANTIATE_TEST_SUITE_P(
    Making, FakeBreaches,
    testing::Values(
        Breach{"SizeBeforeRounding", "map memory",
               [](FakeRank& calls) { calls.CreateObject(1, FakeDriver::kMulticastMinimum + 1); },
               "multicast create: size not granular"},
        Breach{"NoDevices", "map memory", [](FakeRank& calls) { calls.CreateObject(0); },
               "multicast create: no devices"},
        Breach{"AddedTwice", "add", [](FakeRank& calls) { calls.AddDevice(); },
               "add device: the device was added already"},
        Breach{"AddedTooMany", "add", [](FakeRank& calls) { calls.AddDevice(1); },
               "add device: more devices than the object was made for"},
        Breach{"AddedAfterBind", "bind", [](FakeRank& calls) { calls.AddDevice(1); },
               "add device: memory is bound already"},
        Breach{"BoundBeforeAdd", "create object", [](FakeRank& calls) { calls.Bind(); },
               "bind: the memory is of no device that this rank has added"},
        Breach{"BoundTwice", "bind", [](FakeRank& calls) { calls.Bind(); },
               "bind: memory is bound there"},
        Breach{"BoundNotGranular", "add",
               [](FakeRank& calls) { calls.Bind(FakeDriver::kGranularity); },
               "bind: size or offset not granular"},
        Breach{"BoundMoreThanThereIs", "add",
               [](FakeRank& calls) { calls.Bind(kBytes, FakeDriver::kMulticastMinimum); },
               "bind: more than the memory or the object has"},
        Breach{"BoundOtherDevice", "map memory",
               [](FakeRank& calls) {
                 calls.CreateObject(1);
                 calls.AddDevice(1);
                 calls.Bind();
               },
               "bind: the memory is of no device that this rank has added"}),
    BreachName);

// What a rank's own calls never do, as a change of the right ones.
CUresult CreateOn(FakeRank& calls, CUdevice device, unsigned flags) {
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  what.requestedHandleTypes = calls.type;
  CUmemGenericAllocationHandle memory = 0;
  return calls.driver.MemCreate(&memory, kBytes, &what, flags);
}

CUresult AccessFor(FakeRank& calls, CUdevice device) {
  CUmemAccessDesc access{};
  access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return calls.driver.MemSetAccess(calls.own, kBytes, &access, 1);
}

INSTANTIATE_TEST_SUITE_P(
    OfAnotherDevice, FakeBreaches,
    testing::Values(Breach{"Created", "create", [](FakeRank& calls) { CreateOn(calls, 1, 0); },
                           "create: of another device"},
                    Breach{"Accessed", "map memory", [](FakeRank& calls) { AccessFor(calls, 1); },
                           "set access: of another device"}),
    BreachName);

INSTANTIATE_TEST_SUITE_P(
    Flags, FakeBreaches,
    testing::Values(
        Breach{"OfCreate", "create", [](FakeRank& calls) { CreateOn(calls, 0, 1); },
               "create: flags are not 0"},
        Breach{"OfReserve", "create",
               [](FakeRank& calls) { calls.driver.MemAddressReserve(&calls.own, kBytes, 0, 0, 1); },
               "reserve: flags are not 0"},
        Breach{"OfMap", "create",
               [](FakeRank& calls) {
                 calls.driver.MemAddressReserve(&calls.own, kBytes, 0, 0, 0);
                 calls.driver.MemMap(calls.own, kBytes, 0, calls.memory, 1);
               },
               "map: flags are not 0"},
        Breach{"OfExport", "create",
               [](FakeRank& calls) {
                 CUmemFabricHandle out{};
                 calls.driver.MemExportToShareableHandle(&out, calls.memory, calls.type, 1);
               },
               "export: flags are not 0"},
        Breach{"OfObject", "create",
               [](FakeRank& calls) {
                 CUmulticastObjectProp what{};
                 what.numDevices = 1;
                 what.size = kBytes;
                 what.flags = 1;
                 calls.driver.MulticastCreate(&calls.object, &what);
               },
               "multicast create: flags are not 0"},
        Breach{"OfBind", "add",
               [](FakeRank& calls) {
                 calls.driver.MulticastBindMem(calls.object, 0, calls.memory, 0, kBytes, 1);
               },
               "bind: flags are not 0"}),
    BreachName);

INSTANTIATE_TEST_SUITE_P(
    Using, FakeBreaches,
    testing::Values(
        Breach{"MappedBeforeAdd", "create object", [](FakeRank& calls) { calls.MapObject(); },
               "map: waits for devices that are never added, 0 of 1"},
        Breach{"MappedAtNoGranularAddress", "bind", [](FakeRank& calls) { calls.MapObject(0); },
               "map: the address is not granular for multicast"},
        Breach{"StoredBeforeAccess", "map object",
               [](FakeRank& calls) { EXPECT_FALSE(StoreAt(calls.multicast)); },
               "multicast store: no access"},
        Breach{"StoredBeforeBind", "add",
               [](FakeRank& calls) {
                 calls.MapObject();
                 calls.Access(calls.multicast);
                 EXPECT_FALSE(StoreAt(calls.multicast));
               },
               "multicast store: memory of 0 of 1 devices is bound"},
        Breach{"StoredThroughAPlainAddress", "access",
               [](FakeRank& calls) { EXPECT_FALSE(StoreAt(calls.own)); },
               "multicast store: no multicast address"},
        Breach{"StoredPastTheEnd", "access",
               [](FakeRank& calls) { EXPECT_FALSE(StoreAt(calls.multicast + kBytes - 8)); },
               "multicast store: no multicast address"},
        Breach{"PlainMemset", "access",
               [](FakeRank& calls) { calls.driver.MemsetD32(calls.multicast, 0, kBytes / 4); },
               "memset: plain access through a multicast address"}),
    BreachName);

INSTANTIATE_TEST_SUITE_P(
    GivingBack, FakeBreaches,
    testing::Values(
        Breach{"UnmappedWhileInUse", "access",
               [](FakeRank& calls) {
                 EXPECT_TRUE(StoreAt(calls.multicast));
                 calls.driver.MemUnmap(calls.multicast, kBytes);
               },
               "unmap: stored to since the last synchronisation"},
        Breach{"UnmappedWhileBound", "access",
               [](FakeRank& calls) { calls.driver.MemUnmap(calls.own, kBytes); },
               "unmap: the memory is bound to a multicast object"},
        Breach{"FreedWhileMapped", "access",
               [](FakeRank& calls) { calls.driver.MemAddressFree(calls.multicast, kBytes); },
               "free: the range is still mapped"},
        Breach{"UnboundAfterFree", "create",
               [](FakeRank& calls) {
                 calls.CreateObject(1);
                 calls.AddDevice();
                 calls.Bind();
                 calls.driver.MemRelease(calls.memory);
                 calls.driver.MulticastUnbind(calls.object, 0, 0, kBytes);
               },
               "unbind: the memory was freed before"},
        Breach{
            "UnboundOtherSize", "access",
            [](FakeRank& calls) { calls.driver.MulticastUnbind(calls.object, 0, 0, kBytes / 2); },
            "unbind: not the offset and size of the bind"},
        Breach{"UnboundOtherDevice", "access",
               [](FakeRank& calls) { calls.driver.MulticastUnbind(calls.object, 1, 0, kBytes); },
               "unbind: nothing of that device is bound"},
        Breach{"UnboundWhileMapped", "access",
               [](FakeRank& calls) { calls.driver.MulticastUnbind(calls.object, 0, 0, kBytes); },
               "unbind: this rank still maps the object"},
        Breach{"UnboundTwice", "bind",
               [](FakeRank& calls) {
                 calls.driver.MulticastUnbind(calls.object, 0, 0, kBytes);
                 calls.driver.MulticastUnbind(calls.object, 0, 0, kBytes);
               },
               "unbind: nothing of that device is bound"},
        Breach{"ReleasedBeforeUnbind", "access",
               [](FakeRank& calls) {
                 calls.driver.MemRelease(calls.object);
                 calls.driver.MulticastUnbind(calls.object, 0, 0, kBytes);
               },
               "unbind: no such handle"},
        Breach{"ReleasedTwice", "access",
               [](FakeRank& calls) {
                 EXPECT_EQ(calls.FreeObject(), CUDA_SUCCESS);
                 calls.driver.MemRelease(calls.object);
               },
               "release: no such handle"}),
    BreachName);

TEST(FakeBreach, WhatIsNotGivenBackIsAlive) {
  FakeDriver fake;
  const FakeDriverScope scope(fake);
  FakeRank calls;
  DoUntil("access", calls);
  EXPECT_EQ(fake.Alive(), "2 handles, 2 ranges, 2 mappings, 1 binding");
  calls.driver.MemRelease(calls.object);
  EXPECT_EQ(fake.Alive(), "1 handle, 2 ranges, 2 mappings, 1 binding");
}

TEST(FakeBreachDeathTest, APlainAccessThroughAMulticastAddressIsNamed) {
  FakeDriver fake;
  const FakeDriverScope scope(fake);
  FakeRank calls;
  DoUntil("access", calls);
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(calls.multicast + 64) = 1,
               "plain access through a multicast address");
  EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile int*>(calls.multicast)),
               "plain access through a multicast address");
}

// Two ranks, which do as told before they bind and use.
std::vector<FakeOutcome> RunTwo(const std::function<void(int, FakeVote&, FakeRank&)>& bind_and_use,
                                bool creator_stays = true) {
  CUmemFabricHandle shared{};
  return RunFakeRanks(
      2,
      [&](int rank, FakeVote& vote, FakeRank& calls) {
        EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
        EXPECT_EQ(calls.MapMemory(), CUDA_SUCCESS);
        if (rank == 0) {
          EXPECT_EQ(calls.CreateObject(2), CUDA_SUCCESS);
          EXPECT_EQ(calls.ExportObject(&shared), CUDA_SUCCESS);
          if (!creator_stays) {
            EXPECT_EQ(calls.driver.MemRelease(calls.object), CUDA_SUCCESS);
          }
        }
        vote.arrive_and_wait();
        if (rank == 1) {
          EXPECT_EQ(calls.ImportObject(&shared), CUDA_SUCCESS);
        }
        bind_and_use(rank, vote, calls);
      },
      kShort);
}

TEST(FakeBreach, NoVoteBeforeBindWaitsForTheRankThatFailed) {
  const auto outcomes = RunTwo([](int rank, FakeVote&, FakeRank& calls) {
    if (rank == 1) FakeDriver::Current().FailCall("cuMulticastAddDevice", 0, CUDA_ERROR_UNKNOWN);
    if (calls.AddDevice() == CUDA_SUCCESS) {
      EXPECT_EQ(calls.Bind(), CUDA_ERROR_TIMEOUT);
    }
  });
  EXPECT_THAT(outcomes[0].misuse,
              ElementsAre("bind: waits for devices that are never added, 1 of 2"));
}

TEST(FakeBreach, ACreatorThatLetsGoEarlyLeavesTheOthersWaiting) {
  const auto outcomes = RunTwo(
      [](int rank, FakeVote&, FakeRank& calls) {
        if (rank == 0) return;
        EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
        EXPECT_EQ(calls.Bind(), CUDA_ERROR_TIMEOUT);
      },
      false);
  EXPECT_THAT(outcomes[1].misuse,
              ElementsAre("bind: waits for devices that are never added, 1 of 2"));
}

TEST(FakeBreach, NoBarrierBeforeTheFirstUseStoresToWhatIsNotBound) {
  const auto outcomes = RunTwo([](int rank, FakeVote& vote, FakeRank& calls) {
    EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
    if (rank == 0) {
      EXPECT_EQ(calls.Bind(), CUDA_SUCCESS);
      EXPECT_EQ(calls.MapObject(), CUDA_SUCCESS);
      EXPECT_EQ(calls.Access(calls.multicast), CUDA_SUCCESS);
      EXPECT_FALSE(StoreAt(calls.multicast));
    }
    vote.arrive_and_wait();
    if (rank == 1) {
      EXPECT_EQ(calls.Bind(), CUDA_SUCCESS);
    }
    vote.arrive_and_wait();
    if (rank == 0) {
      EXPECT_TRUE(StoreAt(calls.multicast));
    }
  });
  EXPECT_THAT(outcomes[0].misuse,
              ElementsAre("multicast store: memory of 1 of 2 devices is bound"));
}

// Rank 0 gives all back while rank 1 still maps the object, which that one has stored through.
std::vector<FakeOutcome> RunWithoutABarrierInFree(const std::function<CUresult(FakeRank&)>& unmap) {
  return RunTwo([&](int rank, FakeVote& vote, FakeRank& calls) {
    EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
    EXPECT_EQ(calls.Bind(), CUDA_SUCCESS);
    EXPECT_EQ(calls.MapObject(), CUDA_SUCCESS);
    EXPECT_EQ(calls.Access(calls.multicast), CUDA_SUCCESS);
    vote.arrive_and_wait();
    if (rank == 1) {
      EXPECT_TRUE(StoreAt(calls.multicast));
      EXPECT_EQ(calls.driver.CtxSynchronize(), CUDA_SUCCESS);
      EXPECT_EQ(unmap(calls), CUDA_ERROR_UNKNOWN);
    }
    vote.arrive_and_wait();
    if (rank == 0) {
      EXPECT_EQ(calls.FreeObject(), CUDA_SUCCESS);
      calls.FreeMemory();
    }
    vote.arrive_and_wait();
  });
}

TEST(FakeBreach, MemoryGoesAfterAllMappingsThatWereStoredThrough) {
  auto outcomes = RunWithoutABarrierInFree([](FakeRank&) { return CUDA_ERROR_UNKNOWN; });
  EXPECT_THAT(outcomes[0].misuse,
              ElementsAre("release: the multicast object it was bound to is mapped by some rank"));
  // A rank whose driver does not take a mapping back can do no more.
  outcomes = RunWithoutABarrierInFree([](FakeRank& calls) {
    FakeDriver::Current().FailCall("cuMemUnmap", 0, CUDA_ERROR_UNKNOWN);
    return calls.driver.MemUnmap(calls.multicast, kBytes);
  });
  EXPECT_THAT(outcomes[0].misuse, IsEmpty());
  EXPECT_EQ(outcomes[0].alive, "");
}

TEST(FakeBreach, MemoryOfAPeerCannotBeBound) {
  CUmemFabricHandle memory{};
  const auto outcomes = RunTwo([&](int rank, FakeVote& vote, FakeRank& calls) {
    if (rank == 0) {
      EXPECT_EQ(calls.driver.MemExportToShareableHandle(&memory, calls.memory, calls.type, 0),
                CUDA_SUCCESS);
    }
    EXPECT_EQ(calls.AddDevice(), CUDA_SUCCESS);
    vote.arrive_and_wait();
    if (rank == 1) {
      EXPECT_EQ(calls.driver.MemImportFromShareableHandle(&calls.memory, &memory, calls.type),
                CUDA_SUCCESS);
      EXPECT_EQ(calls.Bind(), CUDA_ERROR_INVALID_VALUE);
    }
    vote.arrive_and_wait();
  });
  EXPECT_THAT(outcomes[1].misuse,
              Contains("bind: the memory is of no device that this rank has added"));
}

}  // namespace
}  // namespace mailbench
