#include "harness/gpu/fake_driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mailbench {
namespace {

void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

bool Granular(std::size_t bytes) { return bytes > 0 && bytes % FakeDriver::kGranularity == 0; }

std::size_t SizeOf(int fd) {
  struct stat facts {};
  return fstat(fd, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

CUresult ErrorName(CUresult code, const char** name) {
  *name = code == CUDA_ERROR_OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
          : code == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
                                             : nullptr;
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult ErrorString(CUresult code, const char** text) {
  *text = code == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "invalid argument";
  return CUDA_SUCCESS;
}

std::string Count(std::size_t count, const std::string& noun) {
  return count == 0 ? "" : std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

FakeDriver& FakeDriver::Get() {
  static FakeDriver driver;
  return driver;
}

// Each entry of the table: fails when it is its turn, otherwise does as the member function says.
// NOLINTBEGIN(bugprone-macro-parentheses): the parameters are in parentheses already
#define MAILBENCH_FAKE(name, parameters, call)                      \
  table_.name = [] parameters -> CUresult {                         \
    FakeDriver& fake = Get();                                       \
    return fake.Fails("cu" #name) ? fake.failing_code_ : fake.call; \
  }
// NOLINTEND(bugprone-macro-parentheses)

FakeDriver::FakeDriver() {
  using Handle = CUmemGenericAllocationHandle;
  using Flags = unsigned long long;  // NOLINT(google-runtime-int): the driver's own type
  using Type = CUmemAllocationHandleType;
  table_.GetErrorName = ErrorName;
  table_.GetErrorString = ErrorString;
  MAILBENCH_FAKE(CtxSynchronize, (), Synchronize());
  MAILBENCH_FAKE(MemGetAllocationGranularity,
                 (std::size_t * out, const CUmemAllocationProp*, CUmemAllocationGranularity_flags),
                 Granularity(out));
  MAILBENCH_FAKE(MemCreate,
                 (Handle * out, std::size_t bytes, const CUmemAllocationProp* what, Flags),
                 Create(out, bytes, what));
  MAILBENCH_FAKE(MemRelease, (Handle handle), Release(handle));
  MAILBENCH_FAKE(MemAddressReserve,
                 (CUdeviceptr * out, std::size_t bytes, std::size_t, CUdeviceptr, Flags),
                 Reserve(out, bytes));
  MAILBENCH_FAKE(MemAddressFree, (CUdeviceptr start, std::size_t bytes), Free(start, bytes));
  MAILBENCH_FAKE(MemMap,
                 (CUdeviceptr start, std::size_t bytes, std::size_t offset, Handle handle, Flags),
                 Map(start, bytes, offset, handle));
  MAILBENCH_FAKE(MemUnmap, (CUdeviceptr start, std::size_t bytes), Unmap(start, bytes));
  MAILBENCH_FAKE(
      MemSetAccess,
      (CUdeviceptr start, std::size_t bytes, const CUmemAccessDesc* access, std::size_t count),
      SetAccess(start, bytes, access, count));
  MAILBENCH_FAKE(MemExportToShareableHandle, (void* out, Handle handle, Type type, Flags),
                 Export(out, handle, type));
  MAILBENCH_FAKE(MemImportFromShareableHandle, (Handle * out, void* fd, Type type),
                 Import(out, fd, type));
  MAILBENCH_FAKE(MemsetD32, (CUdeviceptr start, unsigned value, std::size_t words),
                 Memset(start, value, words));
}

void FakeDriver::FailCall(const std::string& function, int number, CUresult code) {
  failing_ = function;
  failing_number_ = number + calls_[function];
  failing_code_ = code;
}

void FakeDriver::Reset() {
  calls_.clear();
  misuse_.clear();
  failing_.clear();
  for (const auto& [start, range] : ranges_) munmap(Pointer(start), range.bytes);
  ranges_.clear();
  handles_.clear();
}

std::string FakeDriver::Alive() const {
  const auto mapped = static_cast<std::size_t>(std::count_if(
      ranges_.begin(), ranges_.end(), [](const auto& range) { return range.second.mapped; }));
  std::string text;
  for (const std::string& part : {Count(handles_.size(), "handle"), Count(ranges_.size(), "range"),
                                  Count(mapped, "mapping")}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

bool FakeDriver::Fails(const std::string& function) {
  return calls_[function]++ == failing_number_ && function == failing_;
}

CUresult FakeDriver::NewHandle(CUmemGenericAllocationHandle* handle, FileDescriptor fd) {
  *handle = next_handle_++;
  handles_[*handle] = std::move(fd);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Misused(const std::string& what) {
  misuse_.push_back(what);
  return CUDA_ERROR_INVALID_VALUE;
}

FakeDriver::Range* FakeDriver::Find(CUdeviceptr start, std::size_t bytes) {
  const auto found = ranges_.find(start);
  return found == ranges_.end() || found->second.bytes != bytes ? nullptr : &found->second;
}

CUresult FakeDriver::Granularity(std::size_t* out) {
  *out = kGranularity;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Synchronize() { return CUDA_SUCCESS; }

CUresult FakeDriver::Create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                            const CUmemAllocationProp* what) {
  if (!Granular(bytes)) return Misused("create: size not granular");
  if (what->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
      what->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      what->requestedHandleTypes != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
    return Misused("create: not pinned, of a device, for file descriptors");
  }
  FileDescriptor fd(memfd_create("fake_gpu_memory", MFD_CLOEXEC));
  if (!fd.valid() || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  // Fresh memory of a GPU holds anything.
  const unsigned char garbage = 0xa5;
  for (std::size_t at = 0; at < bytes; at += 4096) {
    if (pwrite(fd.get(), &garbage, 1, static_cast<off_t>(at)) != 1) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return NewHandle(handle, std::move(fd));
}

CUresult FakeDriver::Release(CUmemGenericAllocationHandle handle) {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Misused("release: no such handle");
  handles_.erase(found);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Reserve(CUdeviceptr* start, std::size_t bytes) {
  if (!Granular(bytes)) return Misused("reserve: size not granular");
  void* const base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *start = reinterpret_cast<CUdeviceptr>(base);
  ranges_[*start] = {.bytes = bytes};
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Free(CUdeviceptr start, std::size_t bytes) {
  const Range* range = Find(start, bytes);
  if (range == nullptr) return Misused("free: no such range");
  if (range->mapped) return Misused("free: the range is still mapped");
  munmap(Pointer(start), bytes);
  ranges_.erase(start);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Map(CUdeviceptr start, std::size_t bytes, std::size_t offset,
                         CUmemGenericAllocationHandle handle) {
  Range* range = Find(start, bytes);
  const auto memory = handles_.find(handle);
  if (range == nullptr) return Misused("map: the range is not reserved");
  if (range->mapped) return Misused("map: the range is mapped already");
  if (memory == handles_.end()) return Misused("map: no such handle");
  if (offset != 0 || bytes != SizeOf(memory->second.get())) {
    return Misused("map: not all of the memory");
  }
  // Without access until cuMemSetAccess.
  if (mmap(Pointer(start), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->second.get(), 0) ==
      MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  range->mapped = true;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Unmap(CUdeviceptr start, std::size_t bytes) {
  Range* range = Find(start, bytes);
  if (range == nullptr || !range->mapped) return Misused("unmap: not mapped");
  if (mmap(Pointer(start), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
      MAP_FAILED) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  range->mapped = false;
  range->accessible = false;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::SetAccess(CUdeviceptr start, std::size_t bytes, const CUmemAccessDesc* access,
                               std::size_t count) {
  Range* range = Find(start, bytes);
  if (range == nullptr || !range->mapped) return Misused("set access: not mapped");
  if (count != 1 || access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      access->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    return Misused("set access: not one device that reads and writes");
  }
  if (mprotect(Pointer(start), bytes, PROT_READ | PROT_WRITE) != 0) return CUDA_ERROR_OUT_OF_MEMORY;
  range->accessible = true;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Export(void* fd, CUmemGenericAllocationHandle handle,
                            CUmemAllocationHandleType type) {
  const auto memory = handles_.find(handle);
  if (memory == handles_.end()) return Misused("export: no such handle");
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return Misused("export: not a descriptor");
  const int copy = fcntl(memory->second.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  *static_cast<int*>(fd) = copy;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Import(CUmemGenericAllocationHandle* handle, void* fd,
                            CUmemAllocationHandleType type) {
  const int given = static_cast<int>(reinterpret_cast<std::uintptr_t>(fd));
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return Misused("import: not a descriptor");
  if (!Granular(SizeOf(given))) return Misused("import: no descriptor of such memory");
  FileDescriptor copy(fcntl(given, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return CUDA_ERROR_OUT_OF_MEMORY;
  return NewHandle(handle, std::move(copy));
}

CUresult FakeDriver::Memset(CUdeviceptr start, unsigned value, std::size_t words) {
  const Range* range = Find(start, words * sizeof value);
  if (range == nullptr || !range->accessible) return Misused("memset: no access");
  std::fill_n(static_cast<unsigned*>(Pointer(start)), words, value);
  return CUDA_SUCCESS;
}

}  // namespace mailbench
