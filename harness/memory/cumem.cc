#include "harness/memory/cumem.h"

#include <cstdint>
#include <string>

#include "harness/gpu/cuda_error.h"

namespace mailbench {

void ReleaseMemory(const DriverTable& driver, const CUmemGenericAllocationHandle& memory) {
  MAILBENCH_DRIVER(driver, MemRelease, memory);
}

void FreeAddresses(const DriverTable& driver, const AddressSpan& span) {
  MAILBENCH_DRIVER(driver, MemAddressFree, span.start, span.bytes);
}

void UnmapAddresses(const DriverTable& driver, const AddressSpan& span) {
  MAILBENCH_DRIVER(driver, MemUnmap, span.start, span.bytes);
}

CUmemAllocationProp SharedMemoryOn(int device, CUmemAllocationHandleType type) {
  CUmemAllocationProp what{};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  what.requestedHandleTypes = type;
  return what;
}

std::size_t RecommendedGranularity(const DriverTable& driver, const CUmemAllocationProp& what) {
  std::size_t granularity = 0;
  MAILBENCH_DRIVER(driver, MemGetAllocationGranularity, &granularity, &what,
                   CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
  return granularity;
}

PhysicalMemory CreateMemory(const DriverTable& driver, const CUmemAllocationProp& what,
                            std::size_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  try {
    MAILBENCH_DRIVER(driver, MemCreate, &handle, bytes, &what, 0);
  } catch (const DriverError& error) {
    if (what.requestedHandleTypes != CU_MEM_HANDLE_TYPE_FABRIC ||
        error.result() != CUDA_ERROR_NOT_PERMITTED) {
      throw;
    }
    throw SystemError(std::string(error.what()) +
                      ": memory shared between hosts needs an IMEX channel, and this process can "
                      "open none (/dev/nvidia-caps-imex-channels; in a container too)");
  }
  return {driver, handle};
}

FileDescriptor ExportFd(const DriverTable& driver, CUmemGenericAllocationHandle object) {
  int fd = -1;
  MAILBENCH_DRIVER(driver, MemExportToShareableHandle, &fd, object,
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  return FileDescriptor(fd);
}

CUmemFabricHandle ExportFabric(const DriverTable& driver, CUmemGenericAllocationHandle object) {
  CUmemFabricHandle handle{};
  MAILBENCH_DRIVER(driver, MemExportToShareableHandle, &handle, object, CU_MEM_HANDLE_TYPE_FABRIC,
                   0);
  return handle;
}

PhysicalMemory ImportFd(const DriverTable& driver, const FileDescriptor& fd) {
  CUmemGenericAllocationHandle handle = 0;
  // The descriptor travels as the pointer itself: documentation of cuMemImportFromShareableHandle.
  MAILBENCH_DRIVER(driver, MemImportFromShareableHandle, &handle,
                   reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd.get())),
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  return {driver, handle};
}

PhysicalMemory ImportFabric(const DriverTable& driver, CUmemFabricHandle handle) {
  CUmemGenericAllocationHandle object = 0;
  MAILBENCH_DRIVER(driver, MemImportFromShareableHandle, &object, &handle,
                   CU_MEM_HANDLE_TYPE_FABRIC);
  return {driver, object};
}

AddressRange ReserveAddresses(const DriverTable& driver, std::size_t bytes, std::size_t alignment) {
  CUdeviceptr start = 0;
  MAILBENCH_DRIVER(driver, MemAddressReserve, &start, bytes, alignment, 0, 0);
  return {driver, {.start = start, .bytes = bytes}};
}

Mapping MapMemory(const DriverTable& driver, const AddressRange& range,
                  const PhysicalMemory& memory) {
  const AddressSpan span = range.object();
  MAILBENCH_DRIVER(driver, MemMap, span.start, span.bytes, 0, memory.object(), 0);
  return {driver, span};
}

void AllowAccess(const DriverTable& driver, const AddressRange& range, int device) {
  CUmemAccessDesc access{};
  access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  MAILBENCH_DRIVER(driver, MemSetAccess, range.object().start, range.object().bytes, &access, 1);
}

MappedMemory::MappedMemory(const DriverTable& driver, PhysicalMemory memory, std::size_t bytes,
                           int device)
    : memory_(std::move(memory)),
      range_(ReserveAddresses(driver, bytes, 0)),
      mapping_(MapMemory(driver, range_, memory_)) {
  AllowAccess(driver, range_, device);
}

void MappedMemory::Release() {
  Attempts all;
  all.Try([&] { mapping_.Release(); });
  all.Try([&] { range_.Release(); });
  all.Try([&] { memory_.Release(); });
  all.RethrowFirst();
}

}  // namespace mailbench
