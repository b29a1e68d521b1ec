// For tests: a driver of virtual memory management and multicast objects without a GPU.
//
// The same table over memfd and mmap: what it shares between processes is really shared, and a
// multicast store reaches every bound memory. It holds callers to the contract of the calls, counts
// what is alive, and fails or stalls on request. No function of the real driver is ever called.
//
// The functions of a table know no object, so they act on the calling thread's current fake: that
// of the process, or, where ranks are threads of a test, the one that FakeDriverScope names.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/gpu/driver.h"
#include "harness/gpu/fake_memory.h"
#include "harness/gpu/fake_multicast.h"

namespace mailbench {

struct FakeDriverOptions {
  // Whether a channel for FABRIC handles exists: without one, creating for them is not permitted.
  bool fabric = true;
  // Of cuMem memory: a power of two, at least kGranularity.
  std::size_t memory_granularity = std::size_t{64} << 10;
  // Multicast objects made by this fake that may exist at once: more are "out of memory".
  std::size_t multicast_slots = 16;
  // How long a call may wait for devices to be added to a multicast object, before it answers
  // CUDA_ERROR_TIMEOUT and counts as misuse. 0: for ever, as on a real machine.
  std::chrono::milliseconds patience{0};
  // Stores through a mapping of imported memory or of a multicast object are lost until
  // PublishMappings.
  bool late_mappings = false;
};

class FakeDriver {
 public:
  static constexpr std::size_t kGranularity = FakeDriverOptions{}.memory_granularity;
  static constexpr std::size_t kMulticastMinimum = 2 * kGranularity;
  static constexpr std::size_t kMulticastRecommended = 4 * kGranularity;
  static constexpr int kDevices = 8;

  // The fake of this process: a rank that is a process has no other.
  static FakeDriver& Get();
  // The fake that the table's functions act on in this thread.
  static FakeDriver& Current();
  static const DriverTable& table();

  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  FakeDriverOptions& options() { return options_; }

  // The GPU that is this rank's, 0 at first: memory of another one, and access for another one, are
  // misuse. Stays so over Reset.
  void UseDevice(CUdevice device) { device_ = device; }

  // The `number`th call (from 0) of `function` ("cuMemCreate") from now on, in this fake, does
  // nothing and returns `code`. One at a time.
  void FailCall(const std::string& function, int number, CUresult code);
  // That call waits until EndWaits, from any thread, and goes on then. One at a time.
  void StallCall(const std::string& function, int number);
  // Ends waiting for good: a stalled call goes on, one that waits for devices gives up.
  void EndWaits() { waits_ended_ = true; }
  // Whether a call is stalled now.
  bool stalled() const { return stalled_; }
  // Back to the start: nothing alive, nothing counted, nothing to fail, the options of the start.
  void Reset();

  const std::map<std::string, int>& calls() const { return calls_; }  // since Reset
  // What exists: "2 handles, 1 range"; "" when there is nothing. Counted are handles, reserved
  // ranges, mappings, memory bound to multicast objects, and exported descriptors left open.
  std::string Alive() const;
  // Calls that broke the contract since Reset, in words.
  const std::vector<std::string>& misuse() const { return misuse_; }

  // What a multicast store to `address` does: each 4-byte word lands, relaxed, in the memory of
  // every device. False, and misuse, where a GPU's store would be undefined: no accessible
  // multicast mapping there, or memory of some device not bound. REQUIRES: `address` and `bytes`
  // are multiples of 4.
  bool MulticastStore(void* address, const void* words, std::size_t bytes);
  // Where such a store lands: each device's memory as this process sees it, in the order in which
  // the devices were added, as if its mapping had been published; empty, and misuse, where
  // MulticastStore would be refused.
  std::vector<std::byte*> MulticastCopies(void* address, std::size_t bytes);
  // Mappings made late (options) show their memory from now on: what the barrier after the mapping
  // would assure.
  void PublishMappings();

 private:
  friend class FakeDriverTable;
  using Handle = CUmemGenericAllocationHandle;
  using Flags = unsigned long long;  // NOLINT(google-runtime-int): the driver's own type

  // What a handle stands for: one of the two.
  struct Owned {
    std::shared_ptr<FakeMemory> memory = nullptr;
    std::shared_ptr<FakeMulticast> multicast = nullptr;
    bool creates = false;  // of the multicast object: the reference that others import through
  };
  struct Range {
    std::size_t bytes = 0;
    void* reservation = nullptr;  // what mmap gave, `reserved` bytes: alignment costs some
    std::size_t reserved = 0;
    std::shared_ptr<FakeMemory> memory = nullptr;        // mapped here
    std::shared_ptr<FakeMulticast> multicast = nullptr;  // mapped here, `offset` bytes into it
    std::size_t offset = 0;
    std::shared_ptr<void> used = nullptr;  // counts the mapping, once it was stored through
    bool accessible = false;
    bool late = false;
    bool stored = false;  // by a multicast store since the last synchronisation

    bool mapped() const { return memory || multicast; }
  };
  struct Binding {
    FileName object;
    CUdevice device = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
    std::weak_ptr<FakeMemory> memory;
  };

  // Counts the call; its result when it is the one to fail.
  std::optional<CUresult> Intercept(const std::string& function);
  // False when it gave up.
  bool WaitFor(const std::function<bool()>& condition) const;
  // False, and misuse, when it gave up.
  bool WaitForDevices(const FakeMulticast& object, const std::string& call);
  CUresult NewHandle(Handle* handle, Owned owned);
  CUresult Misused(const std::string& what);
  // The same for what is still in use, which is no misuse once a call to give back has failed on
  // request.
  CUresult StillUsed(const std::string& what);
  // The reserved range that is exactly this one, or null.
  Range* Find(CUdeviceptr start, std::size_t bytes);
  // The last range that begins at or before `address`, or the end.
  std::map<CUdeviceptr, Range>::iterator FindBefore(CUdeviceptr address);
  FakeMulticast* FindMulticast(Handle handle);
  bool Bound(const FakeMemory& memory) const;
  // Whether this rank maps the object anywhere.
  bool Maps(const FakeMulticast& object) const;
  bool Granular(std::size_t bytes) const;  // as memory
  FakeDevice Device(CUdevice device) const;

  CUresult Synchronize();
  CUresult DeviceGet(CUdevice* device, int ordinal);
  CUresult Attribute(int* value, CUdevice_attribute attribute) const;

  CUresult Granularity(std::size_t* out);
  CUresult Create(Handle* handle, std::size_t bytes, const CUmemAllocationProp* what, Flags flags);
  CUresult Release(Handle handle);
  CUresult Reserve(CUdeviceptr* start, std::size_t bytes, std::size_t alignment, Flags flags);
  CUresult Free(CUdeviceptr start, std::size_t bytes);
  CUresult Map(CUdeviceptr start, std::size_t bytes, std::size_t offset, Handle handle,
               Flags flags);
  CUresult MapMulticast(CUdeviceptr start, Range& range, std::size_t offset,
                        const std::shared_ptr<FakeMulticast>& object);
  CUresult Unmap(CUdeviceptr start, std::size_t bytes);
  CUresult SetAccess(CUdeviceptr start, std::size_t bytes, const CUmemAccessDesc* access,
                     std::size_t count);
  CUresult Memset(CUdeviceptr start, unsigned value, std::size_t words);

  CUresult Export(void* out, Handle handle, CUmemAllocationHandleType type, Flags flags);
  CUresult ExportFile(int* out, const FileDescriptor& fd);
  CUresult Import(Handle* handle, void* in, CUmemAllocationHandleType type);
  CUresult ImportFile(Handle* handle, int fd);
  CUresult ImportFabric(Handle* handle, const void* bytes);

  CUresult MulticastGranularity(std::size_t* out, const CUmulticastObjectProp* what,
                                CUmulticastGranularity_flags which);
  CUresult MulticastCreate(Handle* handle, const CUmulticastObjectProp* what);
  CUresult MulticastAddDevice(Handle handle, CUdevice device);
  CUresult MulticastBind(Handle handle, std::size_t offset, Handle memory,
                         std::size_t memory_offset, std::size_t bytes, Flags flags);
  CUresult MulticastUnbind(Handle handle, CUdevice device, std::size_t offset, std::size_t bytes);

  const int number_;  // of this fake in its process
  CUdevice device_ = 0;
  FakeDriverOptions options_;
  std::map<std::string, int> calls_;
  std::vector<std::string> misuse_;
  std::string failing_;
  int failing_number_ = 0;
  CUresult failing_code_ = CUDA_SUCCESS;
  std::string stalling_;
  int stalling_number_ = 0;
  std::atomic<bool> stalled_ = false;
  std::atomic<bool> waits_ended_ = false;
  bool failed_to_give_back_ = false;
  std::map<Handle, Owned> handles_;
  Handle next_handle_ = 1;
  std::map<CUdeviceptr, Range> ranges_;
  std::vector<Binding> bindings_;
  std::vector<std::pair<int, FileName>> exported_;          // descriptors and what they were of
  std::vector<std::shared_ptr<FakeMulticastState>> slots_;  // of the objects made here
};

// Makes `fake` the current one of this thread while it exists.
class FakeDriverScope {
 public:
  explicit FakeDriverScope(FakeDriver& fake);
  ~FakeDriverScope();
  FakeDriverScope(const FakeDriverScope&) = delete;
  FakeDriverScope& operator=(const FakeDriverScope&) = delete;

 private:
  FakeDriver* const before_;
};

}  // namespace mailbench
