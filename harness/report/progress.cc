#include "harness/report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace mailbench {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";
constexpr std::size_t kUsualWidth = 80;

std::size_t TerminalWidth(int fd) {
  winsize size = {};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualWidth;
}

}  // namespace

std::string FormatProgress(std::size_t done, std::size_t total, const std::string& current,
                           std::chrono::seconds elapsed, std::size_t width) {
  const std::string text = '[' + std::to_string(done) + '/' + std::to_string(total) + "] " +
                           current + ", " + std::to_string(elapsed.count()) + " s";
  return text.substr(0, width);
}

Progress::Progress(int fd, std::size_t total)
    : fd_(fd),
      terminal_(isatty(fd) == 1),
      total_(total),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { Erase(); }

void Progress::Show(std::size_t done, const std::string& current) {
  if (!terminal_) return;
  const auto elapsed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
  // A full last column would wrap on some terminals.
  Write(kEraseLine + FormatProgress(done, total_, current, elapsed, TerminalWidth(fd_) - 1));
  shown_ = true;
}

void Progress::Erase() {
  if (!shown_) return;
  Write(kEraseLine);
  shown_ = false;
}

// A terminal that has gone away is no reason to end a run.
void Progress::Write(const std::string& text) const {
  [[maybe_unused]] const ssize_t written = write(fd_, text.data(), text.size());
}

}  // namespace mailbench
