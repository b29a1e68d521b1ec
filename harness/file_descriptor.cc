#include "harness/file_descriptor.h"

#include <unistd.h>

#include <system_error>

namespace mailbench {

FileDescriptor::~FileDescriptor() {
  if (valid()) close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

std::string ErrnoText(int error) { return std::generic_category().message(error); }

}  // namespace mailbench
