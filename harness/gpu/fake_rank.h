// For tests: one rank's calls of the set-up and teardown of multicast memory, on the current fake.
// Right when made in their order; a test leaves one out or swaps two.
#pragma once

#include <barrier>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/gpu/fake_driver.h"

namespace mailbench {

struct FakeRank {
  static constexpr std::size_t kBytes = FakeDriver::kMulticastRecommended;

  const DriverTable& driver = FakeDriver::table();
  CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_FABRIC;
  CUmemGenericAllocationHandle memory = 0;
  CUmemGenericAllocationHandle object = 0;
  CUdeviceptr own = 0;        // where the memory is mapped
  CUdeviceptr multicast = 0;  // where the object is mapped

  CUresult CreateMemory(std::size_t bytes = kBytes);
  CUresult MapMemory();
  CUresult CreateObject(unsigned devices, std::size_t bytes = kBytes);
  CUresult ExportObject(CUmemFabricHandle* out);
  CUresult ImportObject(CUmemFabricHandle* in);
  CUresult AddDevice(CUdevice device = 0);
  CUresult Bind(std::size_t bytes = kBytes, std::size_t offset = 0);
  CUresult MapObject(std::size_t alignment = FakeDriver::kMulticastMinimum);
  CUresult Access(CUdeviceptr start);

  // Gives back all that there is, in the right order; the first refusal.
  CUresult FreeObject();
  CUresult FreeMemory();
};

// What one rank saw.
struct FakeOutcome {
  std::vector<std::string> misuse;
  std::string alive;
};

using FakeVote = std::barrier<>;

// `body(rank, vote, calls)` as `ranks` threads, each with a fake of its own that waits for at most
// `patience`. A rank that returns no longer votes.
std::vector<FakeOutcome> RunFakeRanks(
    int ranks, const std::function<void(int rank, FakeVote& vote, FakeRank& calls)>& body,
    std::chrono::milliseconds patience = std::chrono::milliseconds(0));

}  // namespace mailbench
