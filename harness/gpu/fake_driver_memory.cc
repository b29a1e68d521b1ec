// Memory, addresses and mappings of the fake driver.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "harness/gpu/fake_driver.h"
#include "harness/gpu/fake_multicast_guard.h"

namespace mailbench {
namespace {

constexpr unsigned kShareable =
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;

void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Fresh memory of a GPU holds anything.
bool FillWithGarbage(const FileDescriptor& fd, std::size_t bytes) {
  const unsigned char garbage = 0xa5;
  for (std::size_t at = 0; at < bytes; at += 4096) {
    if (pwrite(fd.get(), &garbage, 1, static_cast<off_t>(at)) != 1) return false;
  }
  return true;
}

bool MapAnew(CUdeviceptr start, std::size_t bytes, int protection, int flags, int fd) {
  return mmap(Pointer(start), bytes, protection, flags | MAP_FIXED, fd, 0) != MAP_FAILED;
}

bool MapNothing(CUdeviceptr start, std::size_t bytes) {
  return MapAnew(start, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

}  // namespace

bool FakeDriver::Granular(std::size_t bytes) const {
  return bytes > 0 && bytes % options_.memory_granularity == 0;
}

CUresult FakeDriver::Granularity(std::size_t* out) {
  *out = options_.memory_granularity;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Create(Handle* handle, std::size_t bytes, const CUmemAllocationProp* what,
                            Flags flags) {
  if (flags != 0) return Misused("create: flags are not 0");
  if (!Granular(bytes)) return Misused("create: size not granular");
  const auto types = static_cast<unsigned>(what->requestedHandleTypes);
  if (what->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      what->location.type != CU_MEM_LOCATION_TYPE_DEVICE || types == 0 ||
      (types & ~kShareable) != 0) {
    return Misused("create: not pinned, of a device, to be shared");
  }
  if (what->location.id != device_) return Misused("create: of another device");
  if ((types & CU_MEM_HANDLE_TYPE_FABRIC) != 0 && !options_.fabric) return CUDA_ERROR_NOT_PERMITTED;
  FileDescriptor fd = MakeFile("fake_gpu_memory", bytes);
  if (!fd.valid() || !FillWithGarbage(fd, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  return NewHandle(
      handle, {.memory = std::make_shared<FakeMemory>(FakeMemory{.fd = std::move(fd),
                                                                 .bytes = bytes,
                                                                 .handle_types = types,
                                                                 .device = what->location.id})});
}

CUresult FakeDriver::Release(Handle handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Misused("release: no such handle");
  if (found->second.memory && found->second.memory->device >= 0) {
    for (const auto& object : found->second.memory->bound_to) {
      // What was stored through it may be on its way: no header says that unbinding waits for that
      // (cuda.h, cuMulticastUnbind), so that libraries have a barrier between the two.
      if (FakeMulticast::InUse(*object)) {
        return StillUsed("release: the multicast object it was bound to is mapped by some rank");
      }
    }
  }
  if (found->second.creates) found->second.multicast->CreatorGone();
  handles_.erase(found);
  return CUDA_SUCCESS;
}

// Aligned as asked and no better, so that whoever needs more has to ask for it.
CUresult FakeDriver::Reserve(CUdeviceptr* start, std::size_t bytes, std::size_t alignment,
                             Flags flags) {
  if (flags != 0) return Misused("reserve: flags are not 0");
  if (!Granular(bytes)) return Misused("reserve: size not granular");
  if ((alignment & (alignment - 1)) != 0) return Misused("reserve: alignment no power of two");
  alignment = std::max(alignment, kGranularity);
  const std::size_t reserved = bytes + 2 * alignment;
  void* const base = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto first = reinterpret_cast<CUdeviceptr>(base);
  *start = (first + alignment - 1) / alignment * alignment;
  if (*start % (2 * alignment) == 0) *start += alignment;
  ranges_[*start] = {.bytes = bytes, .reservation = base, .reserved = reserved};
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Free(CUdeviceptr start, std::size_t bytes) {
  const Range* range = Find(start, bytes);
  if (range == nullptr) return Misused("free: no such range");
  if (range->mapped()) return StillUsed("free: the range is still mapped");
  munmap(range->reservation, range->reserved);
  ranges_.erase(start);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Map(CUdeviceptr start, std::size_t bytes, std::size_t offset, Handle handle,
                         Flags flags) {
  Range* range = Find(start, bytes);
  const auto found = handles_.find(handle);
  if (flags != 0) return Misused("map: flags are not 0");
  if (range == nullptr) return Misused("map: the range is not reserved");
  if (range->mapped()) return Misused("map: the range is mapped already");
  if (found == handles_.end()) return Misused("map: no such handle");
  if (found->second.multicast) return MapMulticast(start, *range, offset, found->second.multicast);
  const std::shared_ptr<FakeMemory>& memory = found->second.memory;
  if (offset != 0 || bytes != memory->bytes) return Misused("map: not all of the memory");
  // Without access until cuMemSetAccess.
  if (!MapAnew(start, bytes, PROT_NONE, MAP_SHARED, memory->fd.get())) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  range->memory = memory;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Unmap(CUdeviceptr start, std::size_t bytes) {
  Range* range = Find(start, bytes);
  if (range == nullptr || !range->mapped()) return Misused("unmap: not mapped");
  if (range->stored) return StillUsed("unmap: stored to since the last synchronisation");
  if (range->memory && Bound(*range->memory)) {
    return StillUsed("unmap: the memory is bound to a multicast object");
  }
  if (!MapNothing(start, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  UnguardMulticastRange(start);
  *range = {.bytes = bytes, .reservation = range->reservation, .reserved = range->reserved};
  return CUDA_SUCCESS;
}

CUresult FakeDriver::SetAccess(CUdeviceptr start, std::size_t bytes, const CUmemAccessDesc* access,
                               std::size_t count) {
  Range* range = Find(start, bytes);
  if (range == nullptr || !range->mapped()) return Misused("set access: not mapped");
  if (count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    return Misused("set access: not one device that reads and writes");
  }
  if (access->location.id != device_) return Misused("set access: of another device");
  range->late = options_.late_mappings && (range->multicast || range->memory->device < 0);
  // A multicast address stays without access: nothing but multicast stores may use it.
  if (range->memory) {
    const int protection = PROT_READ | PROT_WRITE;
    if (!MapAnew(start, bytes, protection, range->late ? MAP_PRIVATE : MAP_SHARED,
                 range->memory->fd.get())) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
  }
  range->accessible = true;
  return CUDA_SUCCESS;
}

void FakeDriver::PublishMappings() {
  for (auto& [start, range] : ranges_) {
    if (!range.late) continue;
    range.late = range.memory && !MapAnew(start, range.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                          range.memory->fd.get());
  }
}

CUresult FakeDriver::Memset(CUdeviceptr start, unsigned value, std::size_t words) {
  const Range* range = Find(start, words * sizeof value);
  if (range == nullptr || !range->accessible) return Misused("memset: no access");
  if (range->multicast) return Misused("memset: plain access through a multicast address");
  std::fill_n(static_cast<unsigned*>(Pointer(start)), words, value);
  return CUDA_SUCCESS;
}

}  // namespace mailbench
