// What if a step of a region's life were wrong? The code itself, with one thing in its sequence
// changed while it runs: the fake driver catches each change, by the name of what it breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "harness/memory/region_changes.h"
#include "harness/memory/region_threads.h"
#include "harness/memory/region_use.h"

namespace mailbench {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::StartsWith;

using Handle = CUmemGenericAllocationHandle;
using Calls = FakeCalls;
constexpr std::size_t kBytes = RegionUse::kBytes;

// A rank makes three shares and then the object, and gives back the object and then the shares.
constexpr int kMakesObject = kRegionRanks;
constexpr int kFreesObject = 0;
constexpr int kInFree = 1;  // the second time that a device is waited for

enum class Where { kMulticast, kDescriptors, kUnicast };

struct Mutation {
  std::string name;
  Change change;
  std::string breach;                                // how what is reported begins
  std::optional<HeldUpCall> held_up = std::nullopt;  // a rank that is slow
  Where where = Where::kMulticast;                   // kDescriptors: multicast, shared by those
};

void PrintTo(const Mutation& mutation, std::ostream* out) { *out << mutation.name; }

// Stores one word there, of a GPU whose kernel knows no better.
void StoreAt(RegionRank& rank, CUdeviceptr address) {
  const std::uint32_t word = 7;
  rank.fake.MulticastStore(reinterpret_cast<void*>(address), &word, sizeof word);
}

// Rank 0 lets go of the object once it is exported, and imports it again as the others do.
void LetGoEarly(RegionRank& rank) {
  const auto imported = std::make_shared<std::map<Handle, Handle>>();
  const auto follow = [&](auto& call) {
    call = [imported, right = call](Handle handle, auto... rest) -> CUresult {
      const auto found = imported->find(handle);
      return right(found == imported->end() ? handle : found->second, rest...);
    };
  };
  Instead(&Calls::MemExportToShareableHandle, 1,
          [=](RegionRank& own, const auto& right, void* out, Handle handle, auto type, auto flags) {
            const CUresult code = right(out, handle, type, flags);
            own.calls.MemRelease(handle);
            void* in = out;
            if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
              in = reinterpret_cast<void*>(static_cast<std::uintptr_t>(*static_cast<int*>(out)));
            }
            own.calls.MemImportFromShareableHandle(&(*imported)[handle], in, type);
            return code;
          })(rank);
  follow(rank.calls.MulticastAddDevice);
  follow(rank.calls.MulticastBindMem);
  follow(rank.calls.MemRelease);
}

// The own memory is bound just before the device is added.
Change BoundBeforeAdd() {
  return [](RegionRank& rank) {
    const auto memory = std::make_shared<Handle>(0);
    Instead(&Calls::MemCreate, 0, [=](RegionRank&, const auto& right, Handle* out, auto... rest) {
      const CUresult code = right(out, rest...);
      *memory = *out;
      return code;
    })(rank);
    Instead(&Calls::MulticastAddDevice, 0,
            [=](RegionRank& own, const auto& right, Handle object, CUdevice device) {
              own.calls.MulticastBindMem(object, 0, *memory, 0, kBytes, 0);
              return right(object, device);
            })(rank);
  };
}

Change MappedBeforeAdd() {
  return Instead(&Calls::MulticastAddDevice, 0,
                 [](RegionRank& rank, const auto& right, Handle object, CUdevice device) {
                   CUdeviceptr start = 0;
                   rank.calls.MemAddressReserve(&start, kBytes, FakeDriver::kMulticastMinimum, 0,
                                                0);
                   rank.calls.MemMap(start, kBytes, 0, object, 0);
                   return right(object, device);
                 });
}

// The object with `alter(properties)`.
template <typename Alter>
Change ObjectWith(Alter alter) {
  return Instead(&Calls::MulticastCreate, 0,
                 [=](RegionRank&, const auto& right, Handle* out, const CUmulticastObjectProp* is) {
                   CUmulticastObjectProp what = *is;
                   alter(what);
                   return right(out, &what);
                 });
}

Change BoundAt(std::size_t offset, std::size_t bytes) {
  return Instead(&Calls::MulticastBindMem, 0,
                 [=](RegionRank&, const auto& right, Handle object, std::size_t, Handle memory,
                     auto...) { return right(object, offset, memory, 0, bytes, 0); });
}

// On the device that is `further` behind the rank's own.
Change UnboundAt(int further, std::size_t offset, std::size_t bytes) {
  return Instead(&Calls::MulticastUnbind, 0,
                 [=](RegionRank& rank, const auto& right, Handle object, auto...) {
                   return right(object, rank.rank + further, offset, bytes);
                 });
}

// The own memory is unbound while the object is still mapped.
void UnbindFirst(RegionRank& rank) {
  const auto object = std::make_shared<Handle>(0);
  const auto unbind = rank.calls.MulticastUnbind;
  LeftOut (&Calls::MulticastUnbind)(rank);
  Instead(&Calls::MulticastBindMem, 0,
          [=](RegionRank&, const auto& right, Handle handle, auto... rest) {
            *object = handle;
            return right(handle, rest...);
          })(rank);
  Instead(&Calls::MemUnmap, kFreesObject, [=](RegionRank& own, const auto& right, auto... range) {
    unbind(*object, own.rank, 0, kBytes);
    return right(range...);
  })(rank);
}

// Unbinds, and lets go of the object, when all else has been given back.
void UnbindLast(RegionRank& rank) {
  const auto object = std::make_shared<Handle>(0);
  const auto unbind = rank.calls.MulticastUnbind;
  LeftOut (&Calls::MulticastUnbind)(rank);
  Instead(&Calls::MemRelease, kRegionRanks, [=](RegionRank& own, const auto& right, Handle handle) {
    const CUresult code = right(handle);
    unbind(*object, own.rank, 0, kBytes);
    right(*object);
    return code;
  })(rank);
  Instead(&Calls::MemRelease, kFreesObject, [=](RegionRank&, const auto&, Handle handle) {
    *object = handle;
    return CUDA_SUCCESS;
  })(rank);
}

Change ObjectReleasedBeforeUnbind() {
  return Instead(&Calls::MulticastUnbind, 0,
                 [](RegionRank& rank, const auto& right, Handle object, auto... rest) {
                   rank.calls.MemRelease(object);
                   return right(object, rest...);
                 });
}

// `then(rank, start)` before or after the object's addresses have become accessible.
template <typename Then>
Change AtAccess(Then then) {
  return Instead(&Calls::MemSetAccess, kMakesObject,
                 [=](RegionRank& rank, const auto& right, CUdeviceptr start, auto... rest) {
                   return then(rank, start, [&] { return right(start, rest...); });
                 });
}

Change StoredBeforeAccess() {
  return AtAccess([](RegionRank& rank, CUdeviceptr start, const auto& right) {
    StoreAt(rank, start);
    return right();
  });
}

// The `number`th addresses become accessible to the next rank's device.
Change AccessForAnother(int number) {
  return Instead(&Calls::MemSetAccess, number,
                 [](RegionRank&, const auto& right, CUdeviceptr start, std::size_t bytes,
                    const CUmemAccessDesc* is, std::size_t count) {
                   CUmemAccessDesc access = *is;
                   ++access.location.id;
                   return right(start, bytes, &access, count);
                 });
}

Change PlainAccess() {
  return AtAccess([](RegionRank& rank, CUdeviceptr start, const auto& right) {
    const CUresult code = right();
    rank.calls.MemsetD32(start, 0, kBytes / sizeof(std::uint32_t));
    return code;
  });
}

// A store once all has been given back.
Change StoredAfterFree() {
  return [](RegionRank& rank) {
    const auto address = std::make_shared<CUdeviceptr>(0);
    AtAccess([=](RegionRank&, CUdeviceptr start, const auto& right) {
      *address = start;
      return right();
    })(rank);
    Instead(&Calls::MemRelease, kRegionRanks,
            [=](RegionRank& own, const auto& right, Handle handle) {
              const CUresult code = right(handle);
              StoreAt(own, *address);
              return code;
            })(rank);
  };
}

std::vector<Mutation> OfTheObject() {
  const HeldUpCall slow_to_add{.rank = 1, .function = "cuMulticastAddDevice"};
  const auto refuse_to_add = [](RegionRank& rank) {
    rank.fake.FailCall("cuMulticastAddDevice", 0, CUDA_ERROR_UNKNOWN);
  };
  return {
      {"NoVoteBetweenAddAndBind", NoVoteAfter(&Calls::MulticastAddDevice),
       "bind: waits for devices that are never added, 2 of 3", slow_to_add},
      {"NoVoteOnAnAddThatFails",
       Both(NoVoteAfter(&Calls::MulticastAddDevice), OnRank(2, refuse_to_add)),
       "bind: waits for devices that are never added, 2 of 3"},
      {"ARankIsNotAdded", OnRank(2, LeftOut(&Calls::MulticastAddDevice)),
       "bind: waits for devices that are never added, 2 of 3"},
      {"ARankIsAddedTwice", OnRank(1, Repeated(&Calls::MulticastAddDevice)),
       "add device: the device was added already"},
      {"RankZeroLetsGoEarly", OnRank(0, LetGoEarly),
       "bind: waits for devices that are never added, 1 of 3"},
      {"TheSizeIsNotRounded",
       ObjectWith([](CUmulticastObjectProp& what) { what.size = RegionUse::kAsked; }),
       "multicast create: size not granular"},
      {"RoundedAsMemoryOnly",
       Instead(&Calls::MulticastGetGranularity, 0,
               [](RegionRank&, const auto&, std::size_t* out, auto...) {
                 *out = FakeDriver::kGranularity;
                 return CUDA_SUCCESS;
               }),
       "multicast create: size not granular"},
      {"ForTooFewDevices", ObjectWith([](CUmulticastObjectProp& what) { --what.numDevices; }),
       "add device: more devices than the object was made for"},
      {"ForTooManyDevices", ObjectWith([](CUmulticastObjectProp& what) { ++what.numDevices; }),
       "bind: waits for devices that are never added, 3 of 4"},
      {"BoundBeforeAdd", OnRank(0, BoundBeforeAdd()),
       "bind: the memory is of no device that this rank has added"},
      {"MappedBeforeAdd", OnRank(0, MappedBeforeAdd()),
       "map: waits for devices that are never added"},
      {"BoundTwice", OnRank(2, Repeated(&Calls::MulticastBindMem)), "bind: memory is bound there"},
      {"BoundAtAnotherOffset", BoundAt(FakeDriver::kMulticastMinimum, kBytes),
       "bind: more than the memory or the object has"},
      {"OnlyHalfIsBound", BoundAt(0, kBytes / 2), "unbind: not the offset and size of the bind"},
      {"MappedAtAnyAddress",
       Instead(&Calls::MemAddressReserve, kMakesObject,
               [](RegionRank&, const auto& right, CUdeviceptr* out, std::size_t bytes, auto...) {
                 return right(out, bytes, 0, 0, 0);
               }),
       "map: the address is not granular for multicast"},
  };
}

std::vector<Mutation> OfTheUse() {
  const HeldUpCall slow_to_bind{.rank = 1, .function = "cuMulticastBindMem"};
  // The vote on the bind and its question who is to try again, then range, mapping and access.
  const int from_bind_on = 5;
  return {
      {"NoVoteFromBindToFirstUse", NoVoteAfter(&Calls::MulticastBindMem, 0, from_bind_on),
       "multicast store: memory of 2 of 3 devices is bound", slow_to_bind},
      {"NoVoteBeforeTheFirstUse", NoVoteAfter(&Calls::MemSetAccess, kMakesObject),
       "a word is missing"},
      {"NoVoteBeforeTheFirstUseOfUnicast", NoVoteAfter(&Calls::MemSetAccess, kRegionRanks - 1),
       "a word is missing", std::nullopt, Where::kUnicast},
      {"NoAccess", LeftOut(&Calls::MemSetAccess, kMakesObject), "multicast store: no access"},
      {"TheOwnShareForAnotherDevice", AccessForAnother(0), "set access: of another device"},
      {"APeersShareForAnotherDevice", AccessForAnother(1), "set access: of another device"},
      {"TheObjectForAnotherDevice", AccessForAnother(kMakesObject),
       "set access: of another device"},
      {"NoAccessToTheOwnShare", LeftOut(&Calls::MemSetAccess), "memset: no access"},
      {"StoredBeforeAccess", StoredBeforeAccess(), "multicast store: no access"},
      {"NotZeroed", LeftOut(&Calls::MemsetD32), "a word is not zero at first"},
      {"PlainAccess", PlainAccess(), "memset: plain access through a multicast address"},
  };
}

std::vector<Mutation> OfTheTeardown() {
  const HeldUpCall kernel_runs{.rank = 1, .function = "cuCtxSynchronize", .number = kInFree};
  const HeldUpCall slow_to_unmap{.rank = 1, .function = "cuMemUnmap"};
  return {
      {"NoSynchronisation", LeftOut(&Calls::CtxSynchronize, kInFree),
       "unmap: stored to since the last synchronisation"},
      {"NoVoteBeforeFree", NoVoteAfter(&Calls::CtxSynchronize, kInFree),
       "multicast store: memory of 1 of 3 devices is bound", kernel_runs},
      {"NoBarrierBeforeTheSharesGo", NoVoteAfter(&Calls::MemRelease, kFreesObject),
       "release: the multicast object it was bound to is mapped by some rank", slow_to_unmap},
      {"UnboundBeforeUnmap", UnbindFirst, "unbind: this rank still maps the object"},
      {"NotUnbound", LeftOut(&Calls::MulticastUnbind),
       "unmap: the memory is bound to a multicast object"},
      {"UnboundAfterTheMemoryWent", UnbindLast, "unmap: the memory is bound to a multicast object"},
      {"UnboundAfterTheObjectWent", ObjectReleasedBeforeUnbind(), "unbind: no such handle"},
      {"UnboundWithAnotherSize", UnboundAt(0, 0, kBytes / 2),
       "unbind: not the offset and size of the bind"},
      {"UnboundAtAnotherOffset", UnboundAt(0, FakeDriver::kMulticastMinimum, kBytes),
       "unbind: not the offset and size of the bind"},
      {"UnboundOfAnotherDevice", UnboundAt(1, 0, kBytes),
       "unbind: nothing of that device is bound"},
      {"MemoryReleasedTwice", Repeated(&Calls::MemRelease, kRegionRanks),
       "release: no such handle"},
      {"TheObjectStays", LeftOut(&Calls::MemRelease, kFreesObject), "1 handle"},
      {"TheObjectStaysMapped", LeftOut(&Calls::MemUnmap, kFreesObject),
       "free: the range is still mapped"},
      {"TheAddressesStay", LeftOut(&Calls::MemAddressFree, kFreesObject), "1 range"},
      {"AShareStaysMapped", LeftOut(&Calls::MemUnmap, kRegionRanks),
       "free: the range is still mapped"},
      {"DescriptorsStayOpen", Repeated(&Calls::MemExportToShareableHandle), "1 descriptor",
       std::nullopt, Where::kDescriptors},
      {"StoredAfterFree", StoredAfterFree(), "multicast store: no multicast address"},
  };
}

// All that any rank complained of, was told by its driver, or left.
std::vector<std::string> Reports(const Mutation& mutation, bool fabric, bool changed) {
  RegionUse use;
  const RegionEnd end =
      Live({.type = {.multicast = mutation.where != Where::kUnicast, .fabric = fabric},
            .bytes = RegionUse::kAsked,
            .options = {.patience = std::chrono::milliseconds(30), .late_mappings = true},
            .prepare =
                [&](RegionRank& rank) {
                  use.Prepare(rank);
                  if (changed) mutation.change(rank);
                },
            .use = [&](RegionRank& rank, const SymmetricView& view) { use.Run(rank, view); },
            .held_up = mutation.held_up});
  std::vector<std::string> reports;
  for (const RankEnd& rank : end.ranks) {
    reports.insert(reports.end(), rank.misuse.begin(), rank.misuse.end());
    reports.insert(reports.end(), rank.complaints.begin(), rank.complaints.end());
    if (!rank.alive.empty()) reports.push_back(rank.alive);
    if (!changed && !rank.text.empty()) reports.push_back(rank.text);
  }
  return reports;
}

class RegionMutations : public testing::TestWithParam<Mutation> {};

TEST_P(RegionMutations, AreCaughtByName) {
  const Mutation& mutation = GetParam();
  for (const bool fabric : {false, true}) {
    if (fabric && mutation.where == Where::kDescriptors) continue;
    SCOPED_TRACE(fabric ? "FABRIC handles" : "descriptors");
    EXPECT_THAT(Reports(mutation, fabric, false), IsEmpty());
    EXPECT_THAT(Reports(mutation, fabric, true), Contains(StartsWith(mutation.breach)));
  }
}

std::string MutationName(const testing::TestParamInfo<Mutation>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(Object, RegionMutations, testing::ValuesIn(OfTheObject()), MutationName);
INSTANTIATE_TEST_SUITE_P(Use, RegionMutations, testing::ValuesIn(OfTheUse()), MutationName);
INSTANTIATE_TEST_SUITE_P(Teardown, RegionMutations, testing::ValuesIn(OfTheTeardown()),
                         MutationName);

}  // namespace
}  // namespace mailbench
