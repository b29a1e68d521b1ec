// Owners of what the driver's virtual memory management hands out: physical memory, a range of
// addresses, and the mapping of the one at the other (CUDA Driver API, "Virtual Memory
// Management"). Sizes are in bytes and multiples of the granularity. Every function throws
// SystemError when the driver refuses; the DriverTable outlives what was made with it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

#include "harness/error.h"
#include "harness/file_descriptor.h"
#include "harness/gpu/driver.h"

namespace mailbench {

// Owns one object of the driver, or nothing. `GiveBack` throws when the driver refuses.
template <typename Object, void (*GiveBack)(const DriverTable&, const Object&)>
class DriverOwned {
 public:
  DriverOwned() = default;
  DriverOwned(const DriverTable& driver, Object object) : driver_(&driver), object_(object) {}
  // Logs where Release would throw.
  ~DriverOwned() {
    try {
      Release();
    } catch (const Error& error) {
      std::fprintf(stderr, "mailbench: %s\n", error.what());
    }
  }
  DriverOwned(DriverOwned&& other) noexcept
      : driver_(std::exchange(other.driver_, nullptr)), object_(other.object_) {}
  DriverOwned& operator=(DriverOwned&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(object_, other.object_);
    return *this;
  }

  const Object& object() const { return object_; }
  // Gives it back now. It counts as gone even when the driver refuses: there is no second try.
  void Release() {
    if (const DriverTable* driver = std::exchange(driver_, nullptr)) GiveBack(*driver, object_);
  }

 private:
  const DriverTable* driver_ = nullptr;  // null: owns nothing
  Object object_{};
};

// Carries out all of several steps, and keeps the first error.
class Attempts {
 public:
  template <typename Step>
  void Try(Step&& step) {
    try {
      step();
    } catch (const Error&) {
      if (!first_) first_ = std::current_exception();
    }
  }
  // Throws what the first step that failed has thrown.
  void RethrowFirst() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

struct AddressSpan {
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
};

void ReleaseMemory(const DriverTable& driver, const CUmemGenericAllocationHandle& memory);
void FreeAddresses(const DriverTable& driver, const AddressSpan& span);
void UnmapAddresses(const DriverTable& driver, const AddressSpan& span);

using PhysicalMemory = DriverOwned<CUmemGenericAllocationHandle, ReleaseMemory>;
using AddressRange = DriverOwned<AddressSpan, FreeAddresses>;
using Mapping = DriverOwned<AddressSpan, UnmapAddresses>;

// Memory pinned on `device` that other processes can map through a handle of `type`.
CUmemAllocationProp SharedMemoryOn(int device, CUmemAllocationHandleType type);

// The recommended granularity of such memory: a power of two.
std::size_t RecommendedGranularity(const DriverTable& driver, const CUmemAllocationProp& what);

// Where FABRIC handles are refused, the error says what they need.
PhysicalMemory CreateMemory(const DriverTable& driver, const CUmemAllocationProp& what,
                            std::size_t bytes);

// What another process can import. REQUIRES: `object` was created for handles of that type.
FileDescriptor ExportFd(const DriverTable& driver, CUmemGenericAllocationHandle object);
CUmemFabricHandle ExportFabric(const DriverTable& driver, CUmemGenericAllocationHandle object);
// Import memory or a multicast object. The descriptor may be closed afterwards.
PhysicalMemory ImportFd(const DriverTable& driver, const FileDescriptor& fd);
PhysicalMemory ImportFabric(const DriverTable& driver, CUmemFabricHandle handle);

// The steps of making memory, or a multicast object, usable on one device.
// `alignment`: of the first address, a power of two; 0 for the driver's own.
AddressRange ReserveAddresses(const DriverTable& driver, std::size_t bytes, std::size_t alignment);
// All of `memory` in all of `range`.
Mapping MapMemory(const DriverTable& driver, const AddressRange& range,
                  const PhysicalMemory& memory);
// Reads and writes by `device` of all that is mapped in `range`.
void AllowAccess(const DriverTable& driver, const AddressRange& range, int device);

// Physical memory at addresses of its own, which one device may read and write.
class MappedMemory {
 public:
  MappedMemory() = default;
  MappedMemory(const DriverTable& driver, PhysicalMemory memory, std::size_t bytes, int device);

  CUdeviceptr address() const { return range_.object().start; }
  const PhysicalMemory& memory() const { return memory_; }
  // Gives all of it back; throws the first refusal after having tried everything.
  void Release();

 private:
  // In this order: destructors unmap before they free addresses and memory.
  PhysicalMemory memory_;
  AddressRange range_;
  Mapping mapping_;
};

}  // namespace mailbench
