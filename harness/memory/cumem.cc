#include "harness/memory/cumem.h"

#include <cstdint>
#include <exception>

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
  MAILBENCH_DRIVER(driver, MemCreate, &handle, bytes, &what, 0);
  return {driver, handle};
}

FileDescriptor ExportMemory(const DriverTable& driver, const PhysicalMemory& memory) {
  int fd = -1;
  MAILBENCH_DRIVER(driver, MemExportToShareableHandle, &fd, memory.object(),
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  return FileDescriptor(fd);
}

PhysicalMemory ImportMemory(const DriverTable& driver, const FileDescriptor& fd) {
  CUmemGenericAllocationHandle handle = 0;
  // The descriptor travels as the pointer itself: documentation of cuMemImportFromShareableHandle.
  MAILBENCH_DRIVER(driver, MemImportFromShareableHandle, &handle,
                   reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd.get())),
                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  return {driver, handle};
}

MappedMemory::MappedMemory(const DriverTable& driver, PhysicalMemory memory, std::size_t bytes,
                           int device)
    : memory_(std::move(memory)) {
  CUdeviceptr start = 0;
  MAILBENCH_DRIVER(driver, MemAddressReserve, &start, bytes, 0, 0, 0);
  range_ = {driver, {.start = start, .bytes = bytes}};
  MAILBENCH_DRIVER(driver, MemMap, start, bytes, 0, memory_.object(), 0);
  mapping_ = {driver, {.start = start, .bytes = bytes}};
  CUmemAccessDesc access{};
  access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  MAILBENCH_DRIVER(driver, MemSetAccess, start, bytes, &access, 1);
}

void MappedMemory::Release() {
  std::exception_ptr first;
  const auto attempt = [&first](auto& owned) {
    try {
      owned.Release();
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  };
  attempt(mapping_);
  attempt(range_);
  attempt(memory_);
  if (first) std::rethrow_exception(first);
}

}  // namespace mailbench
