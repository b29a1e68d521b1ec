// For tests: the files behind the fake driver's objects, and how another process gets at them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/file_descriptor.h"

namespace mailbench {

// Names a memory file for any process of this user on this host, as long as the process that made
// it lives and holds it open. Plain bytes: travels in shared memory and in FABRIC handles.
struct FileName {
  pid_t pid = 0;
  int fd = -1;  // of that process
  std::uint64_t inode = 0;

  friend bool operator==(const FileName&, const FileName&) = default;
};

struct FakeMulticastState;

// Memory of a GPU: a memory file.
struct FakeMemory {
  FileDescriptor fd;
  std::size_t bytes = 0;
  unsigned handle_types = 0;  // CUmemAllocationHandleType, or'ed
  int device = -1;            // of the rank that created it; -1: imported
  std::vector<std::shared_ptr<FakeMulticastState>> bound_to = {};  // now or before
};

// A memory file of `bytes`, zero; not valid where the system refuses.
FileDescriptor MakeFile(const char* name, std::size_t bytes);
// The fakes keep their descriptors out of the way of those that they hand out; not valid where the
// system refuses.
FileDescriptor KeepFile(int fd);
FileName NameOf(const FileDescriptor& fd);
// Not valid when the file is gone.
FileDescriptor OpenFile(const FileName& name);
// 0: not a file.
std::size_t SizeOfFile(int fd);
std::uint64_t InodeOf(int fd);

}  // namespace mailbench
