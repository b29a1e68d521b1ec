#include "harness/report/screen.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cstdlib>

#include "harness/ranks/launcher.h"

namespace mailbench {
namespace {

constexpr std::size_t kUsualWidth = 80;

FileDescriptor OpenTerminal(const std::string& path) {
  struct stat status {};
  // Opening a pipe would make this process one of its readers.
  if (stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return {};
  FileDescriptor opened(open(path.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  return opened.valid() && isatty(opened.get()) == 1 ? std::move(opened) : FileDescriptor();
}

}  // namespace

std::size_t Screen::width() const {
  winsize size = {};
  return ioctl(terminal.get(), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                          : kUsualWidth;
}

Screen FindScreen(const std::string& descriptors, std::string_view term) {
  Screen screen;
  if (term.empty() || term == "dumb") return screen;
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    screen.terminal = OpenTerminal(descriptors + '/' + std::to_string(fd));
    if (!screen.redraws()) continue;
    screen.fd = fd;
    break;
  }
  return screen;
}

Screen FindScreen() {
  const std::string whose =
      ReadLauncherEnvironment().launched ? std::to_string(getppid()) : std::string("self");
  const char* term = std::getenv("TERM");
  return FindScreen("/proc/" + whose + "/fd", term == nullptr ? "" : term);
}

}  // namespace mailbench
