#include "harness/gpu/fake_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace mailbench {
namespace {

constexpr int kFirstKept = 400;

}  // namespace

FileDescriptor MakeFile(const char* name, std::size_t bytes) {
  const FileDescriptor fd(memfd_create(name, MFD_CLOEXEC));
  if (!fd.valid() || ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return {};
  return KeepFile(fd.get());
}

FileDescriptor KeepFile(int fd) { return FileDescriptor(fcntl(fd, F_DUPFD_CLOEXEC, kFirstKept)); }

FileName NameOf(const FileDescriptor& fd) {
  return {.pid = getpid(), .fd = fd.get(), .inode = InodeOf(fd.get())};
}

FileDescriptor OpenFile(const FileName& name) {
  const std::string path = "/proc/" + std::to_string(name.pid) + "/fd/" + std::to_string(name.fd);
  const FileDescriptor fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  // The number may stand for another file by now.
  if (!fd.valid() || InodeOf(fd.get()) != name.inode) return {};
  return KeepFile(fd.get());
}

std::size_t SizeOfFile(int fd) {
  struct stat facts {};
  return fstat(fd, &facts) == 0 ? static_cast<std::size_t>(facts.st_size) : 0;
}

std::uint64_t InodeOf(int fd) {
  struct stat facts {};
  return fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace mailbench
