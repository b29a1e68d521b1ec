#include "harness/memory/private_directory.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/error.h"
#include "harness/file_descriptor.h"

namespace mailbench {

PrivateDirectory::PrivateDirectory(const std::string& parent) {
  std::string name = parent + "/mailbench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw SystemError("cannot make a private directory in " + parent + ": " + ErrnoText(errno));
  }
  path_ = name;
}

PrivateDirectory::~PrivateDirectory() {
  if (path_.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(path_, error);
  if (error) {
    std::fprintf(stderr, "mailbench: cannot remove %s: %s\n", path_.c_str(),
                 error.message().c_str());
  }
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::exchange(other.path_, "")) {}

PrivateDirectory& PrivateDirectory::operator=(PrivateDirectory&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

}  // namespace mailbench
