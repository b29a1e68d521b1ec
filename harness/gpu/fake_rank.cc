#include "harness/gpu/fake_rank.h"

#include <thread>

namespace mailbench {
namespace {

CUresult First(CUresult a, CUresult b) { return a != CUDA_SUCCESS ? a : b; }

}  // namespace

CUresult FakeRank::CreateMemory(std::size_t bytes) {
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
  what.requestedHandleTypes = type;
  return driver.MemCreate(&memory, bytes, &what, 0);
}

CUresult FakeRank::MapMemory() {
  CUresult code = driver.MemAddressReserve(&own, kBytes, 0, 0, 0);
  code = First(code, driver.MemMap(own, kBytes, 0, memory, 0));
  return First(code, Access(own));
}

CUresult FakeRank::CreateObject(unsigned devices, std::size_t bytes) {
  CUmulticastObjectProp what{};
  what.numDevices = devices;
  what.size = bytes;
  what.handleTypes = type;
  return driver.MulticastCreate(&object, &what);
}

CUresult FakeRank::ExportObject(CUmemFabricHandle* out) {
  return driver.MemExportToShareableHandle(out, object, CU_MEM_HANDLE_TYPE_FABRIC, 0);
}

CUresult FakeRank::ImportObject(CUmemFabricHandle* in) {
  return driver.MemImportFromShareableHandle(&object, in, CU_MEM_HANDLE_TYPE_FABRIC);
}

CUresult FakeRank::AddDevice(CUdevice device) { return driver.MulticastAddDevice(object, device); }

CUresult FakeRank::Bind(std::size_t bytes, std::size_t offset) {
  return driver.MulticastBindMem(object, offset, memory, 0, bytes, 0);
}

CUresult FakeRank::MapObject(std::size_t alignment) {
  const CUresult code = driver.MemAddressReserve(&multicast, kBytes, alignment, 0, 0);
  return First(code, driver.MemMap(multicast, kBytes, 0, object, 0));
}

CUresult FakeRank::Access(CUdeviceptr start) {
  CUmemAccessDesc access{};
  access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return driver.MemSetAccess(start, kBytes, &access, 1);
}

CUresult FakeRank::FreeObject() {
  CUresult code = driver.CtxSynchronize();
  code = First(code, driver.MemUnmap(multicast, kBytes));
  code = First(code, driver.MemAddressFree(multicast, kBytes));
  code = First(code, driver.MulticastUnbind(object, 0, 0, kBytes));
  return First(code, driver.MemRelease(object));
}

CUresult FakeRank::FreeMemory() {
  CUresult code = driver.MemUnmap(own, kBytes);
  code = First(code, driver.MemAddressFree(own, kBytes));
  return First(code, driver.MemRelease(memory));
}

std::vector<FakeOutcome> RunFakeRanks(
    int ranks, const std::function<void(int rank, FakeVote& vote, FakeRank& calls)>& body,
    std::chrono::milliseconds patience) {
  std::vector<FakeDriver> fakes(static_cast<std::size_t>(ranks));
  FakeVote vote(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      FakeDriver& fake = fakes[static_cast<std::size_t>(rank)];
      const FakeDriverScope scope(fake);
      fake.options().patience = patience;
      FakeRank calls;
      body(rank, vote, calls);
      vote.arrive_and_drop();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<FakeOutcome> outcomes;
  for (const FakeDriver& fake : fakes) {
    outcomes.push_back({.misuse = fake.misuse(), .alive = fake.Alive()});
  }
  return outcomes;
}

}  // namespace mailbench
