// How objects of the fake driver get from one process to another.
#include <fcntl.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "harness/gpu/fake_driver.h"

namespace mailbench {
namespace {

// What the 64 bytes of a FABRIC handle say.
struct FabricName {
  FileName file;
  unsigned devices = 0;  // of a multicast object; 0: memory
  std::size_t bytes = 0;
  std::size_t handle_types = 0;
};
static_assert(sizeof(FabricName) <= sizeof(CUmemFabricHandle));

constexpr auto kFile = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
constexpr auto kFabric = CU_MEM_HANDLE_TYPE_FABRIC;

std::shared_ptr<FakeMemory> MemoryOf(const FileDescriptor& fd, unsigned handle_types) {
  FileDescriptor kept = KeepFile(fd.get());
  if (!kept.valid()) return nullptr;
  const std::size_t bytes = SizeOfFile(kept.get());
  return std::make_shared<FakeMemory>(
      FakeMemory{.fd = std::move(kept), .bytes = bytes, .handle_types = handle_types});
}

}  // namespace

CUresult FakeDriver::Export(void* out, Handle handle, CUmemAllocationHandleType type, Flags flags) {
  if (flags != 0) return Misused("export: flags are not 0");
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return Misused("export: no such handle");
  const Owned& owned = found->second;
  FabricName name;
  if (owned.multicast) {
    const CUmulticastObjectProp what = owned.multicast->what();
    name = {.file = owned.multicast->name(),
            .devices = what.numDevices,
            .bytes = what.size,
            .handle_types = what.handleTypes};
  } else {
    name = {.file = NameOf(owned.memory->fd), .handle_types = owned.memory->handle_types};
  }
  if ((type != kFile && type != kFabric) || (name.handle_types & type) == 0) {
    return Misused("export: not made for such handles");
  }
  if (type == kFile) {
    return ExportFile(static_cast<int*>(out),
                      owned.multicast ? owned.multicast->fd() : owned.memory->fd);
  }
  std::memset(out, 0, sizeof(CUmemFabricHandle));
  std::memcpy(out, &name, sizeof name);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::ExportFile(int* out, const FileDescriptor& fd) {
  *out = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  if (*out < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  std::erase_if(exported_, [&](const auto& exported) { return exported.first == *out; });
  exported_.emplace_back(*out, NameOf(fd));
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Import(Handle* handle, void* in, CUmemAllocationHandleType type) {
  if (type == kFile) {
    return ImportFile(handle, static_cast<int>(reinterpret_cast<std::uintptr_t>(in)));
  }
  if (type == kFabric) return ImportFabric(handle, in);
  return Misused("import: neither a descriptor nor a FABRIC handle");
}

CUresult FakeDriver::ImportFile(Handle* handle, int fd) {
  const std::size_t bytes = SizeOfFile(fd);
  const bool multicast = FakeMulticast::IsFileOf(fd);
  if (!multicast && (bytes == 0 || bytes % kGranularity != 0)) {
    return Misused("import: no descriptor of such memory");
  }
  const FileDescriptor given = KeepFile(fd);
  if (!given.valid()) return CUDA_ERROR_OUT_OF_MEMORY;
  Owned owned;
  if (multicast) {
    owned.multicast = FakeMulticast::Import(given);
  } else {
    owned.memory = MemoryOf(given, kFile);
  }
  if (!owned.multicast && !owned.memory) return CUDA_ERROR_OUT_OF_MEMORY;
  return NewHandle(handle, std::move(owned));
}

CUresult FakeDriver::ImportFabric(Handle* handle, const void* bytes) {
  if (!options_.fabric) return CUDA_ERROR_NOT_PERMITTED;
  FabricName name;
  std::memcpy(&name, bytes, sizeof name);
  const FileDescriptor file = OpenFile(name.file);
  Owned owned;
  if (name.devices > 0) {
    CUmulticastObjectProp what{};
    what.numDevices = name.devices;
    what.size = name.bytes;
    what.handleTypes = name.handle_types;
    // One that is gone is silently replaced, as where its creator has let go of it.
    owned.multicast = file.valid() ? FakeMulticast::Import(file) : FakeMulticast::Create(what);
  } else if (!file.valid()) {
    Misused("import: the memory is gone");
    return CUDA_ERROR_INVALID_HANDLE;
  } else {
    owned.memory = MemoryOf(file, kFabric);
  }
  if (!owned.multicast && !owned.memory) return CUDA_ERROR_OUT_OF_MEMORY;
  return NewHandle(handle, std::move(owned));
}

}  // namespace mailbench
