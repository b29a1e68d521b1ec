// Owners of what the driver's virtual memory management hands out: physical memory, a range of
// addresses, and the mapping of the one at the other (CUDA Driver API, "Virtual Memory
// Management"). Sizes are in bytes and multiples of the granularity. Every function throws
// SystemError when the driver refuses; the DriverTable outlives what was made with it.
#pragma once

#include <cstddef>
#include <cstdio>
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

PhysicalMemory CreateMemory(const DriverTable& driver, const CUmemAllocationProp& what,
                            std::size_t bytes);

// A descriptor that another process can import. REQUIRES: created for POSIX file descriptors.
FileDescriptor ExportMemory(const DriverTable& driver, const PhysicalMemory& memory);
// The descriptor may be closed afterwards.
PhysicalMemory ImportMemory(const DriverTable& driver, const FileDescriptor& fd);

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
