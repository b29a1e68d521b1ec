// For tests: a driver of virtual memory management without a GPU.
//
// The same table over memfd and mmap: what it shares between processes is really shared. It holds
// callers to the contract of the calls, counts what is alive, and fails on request. A process has
// one, since a table of functions has no room for more.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "harness/file_descriptor.h"
#include "harness/gpu/driver.h"

namespace mailbench {

class FakeDriver {
 public:
  static constexpr std::size_t kGranularity = std::size_t{64} << 10;

  static FakeDriver& Get();

  const DriverTable& table() const { return table_; }

  // The `number`th call (from 0) of `function` ("cuMemCreate") from now on, in this process, does
  // nothing and returns `code`. One at a time.
  void FailCall(const std::string& function, int number, CUresult code);
  // Back to the start: nothing alive, nothing counted, nothing to fail.
  void Reset();

  const std::map<std::string, int>& calls() const { return calls_; }  // since Reset
  // Handles, reserved ranges and mappings that exist: "2 handles, 1 range"; "" when there are none.
  std::string Alive() const;
  // Calls that broke the contract since Reset, in words.
  const std::vector<std::string>& misuse() const { return misuse_; }

 private:
  struct Range {
    std::size_t bytes = 0;
    bool mapped = false;
    bool accessible = false;
  };

  FakeDriver();
  // Whether the call is the one to fail.
  bool Fails(const std::string& function);
  CUresult NewHandle(CUmemGenericAllocationHandle* handle, FileDescriptor fd);
  CUresult Misused(const std::string& what);
  // The reserved range that is exactly this one, or null.
  Range* Find(CUdeviceptr start, std::size_t bytes);

  CUresult Synchronize();
  CUresult Granularity(std::size_t* out);
  CUresult Create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                  const CUmemAllocationProp* what);
  CUresult Release(CUmemGenericAllocationHandle handle);
  CUresult Reserve(CUdeviceptr* start, std::size_t bytes);
  CUresult Free(CUdeviceptr start, std::size_t bytes);
  CUresult Map(CUdeviceptr start, std::size_t bytes, std::size_t offset,
               CUmemGenericAllocationHandle handle);
  CUresult Unmap(CUdeviceptr start, std::size_t bytes);
  CUresult SetAccess(CUdeviceptr start, std::size_t bytes, const CUmemAccessDesc* access,
                     std::size_t count);
  CUresult Export(void* fd, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type);
  CUresult Import(CUmemGenericAllocationHandle* handle, void* fd, CUmemAllocationHandleType type);
  CUresult Memset(CUdeviceptr start, unsigned value, std::size_t words);

  DriverTable table_;
  std::map<std::string, int> calls_;
  std::vector<std::string> misuse_;
  std::string failing_;
  int failing_number_ = 0;
  CUresult failing_code_ = CUDA_SUCCESS;
  std::map<CUmemGenericAllocationHandle, FileDescriptor> handles_;
  CUmemGenericAllocationHandle next_handle_ = 1;
  std::map<CUdeviceptr, Range> ranges_;
};

}  // namespace mailbench
