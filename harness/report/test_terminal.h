// For tests: a pseudo terminal.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "harness/file_descriptor.h"

namespace mailbench {

class TestTerminal {
 public:
  explicit TestTerminal(std::uint16_t columns) : screen_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (grantpt(screen_.get()) != 0 || unlockpt(screen_.get()) != 0) {
      throw std::runtime_error("no pseudo terminal");
    }
    path_ = ptsname(screen_.get());
    terminal_ = Open();
    Resize(columns);
  }

  const std::string& path() const { return path_; }
  FileDescriptor Open() const { return FileDescriptor(open(path_.c_str(), O_RDWR | O_NOCTTY)); }
  void Resize(std::uint16_t columns) const {
    const winsize size = {24, columns, 0, 0};
    ioctl(terminal_.get(), TIOCSWINSZ, &size);
  }

 private:
  FileDescriptor screen_;
  std::string path_;
  FileDescriptor terminal_;
};

}  // namespace mailbench
