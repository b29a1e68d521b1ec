#include "harness/report/file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/error.h"

namespace mailbench {
namespace {

constexpr std::string_view kTemporaryEnd = ".tmp";
constexpr int kMostAttempts = 1000;

std::string TemporaryStart(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + '.' + path.substr(name) + '.';
}

// The numbers have a fixed width, so that a name that is short enough once is so in every process.
std::string TemporaryName(const std::string& path, unsigned attempt) {
  std::array<char, 32> numbers = {};
  std::snprintf(numbers.data(), numbers.size(), "%07d.%03u", static_cast<int>(getpid()),
                attempt % kMostAttempts);
  return TemporaryStart(path) + numbers.data() + std::string(kTemporaryEnd);
}

void SyncDirectory(const std::string& path) {
  const std::string directory = DirectoryOf(path);
  const FileDescriptor fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // EINVAL: the file system has no such operation.
  if (!fd.valid() || (fsync(fd.get()) != 0 && errno != EINVAL)) {
    throw SystemError("cannot sync directory " + directory + ": " + ErrnoText(errno));
  }
}

}  // namespace

std::string DirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory;
}

int WriteFully(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = write(fd, text.data() + done, text.size() - done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written == 0) {
      return ENOSPC;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string ReadFile(const std::string& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) throw SystemError("cannot open " + path + ": " + ErrnoText(errno));
  std::string text;
  std::array<char, 1 << 16> block;
  while (true) {
    const ssize_t got = read(fd.get(), block.data(), block.size());
    if (got > 0) {
      text.append(block.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return text;
    } else if (errno != EINTR) {
      throw SystemError("cannot read " + path + ": " + ErrnoText(errno));
    }
  }
}

ReplacementFile::ReplacementFile(std::string path) : path_(std::move(path)) {
  static std::atomic<unsigned> next_attempt = 0;
  int error = EEXIST;
  for (int tries = 0; tries < kMostAttempts && error == EEXIST; ++tries) {
    const std::string name = TemporaryName(path_, next_attempt++);
    fd_ =
        FileDescriptor(open(name.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd_.valid()) {
      temporary_ = name;
      return;
    }
    error = errno;
  }
  throw SystemError("cannot create a file beside " + path_ + ": " + ErrnoText(error));
}

ReplacementFile::~ReplacementFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void ReplacementFile::Write(const std::string& text) {
  if (const int error = WriteFully(fd_.get(), text); error != 0) {
    throw SystemError("cannot write " + path_ + ": " + ErrnoText(error));
  }
}

FileDescriptor ReplacementFile::Commit() {
  if (fsync(fd_.get()) != 0) throw SystemError("cannot sync " + path_ + ": " + ErrnoText(errno));
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw SystemError("cannot replace " + path_ + ": " + ErrnoText(errno));
  }
  temporary_.clear();
  SyncDirectory(path_);
  return std::move(fd_);
}

void RemoveStaleReplacements(const std::string& path) {
  const std::string start = std::filesystem::path(TemporaryStart(path)).filename();
  std::error_code error;
  std::filesystem::directory_iterator entry(DirectoryOf(path), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(start) || !name.ends_with(kTemporaryEnd)) continue;
    int pid = 0;
    const char* number = name.data() + start.size();
    if (std::from_chars(number, name.data() + name.size(), pid).ptr != number + 7) continue;
    if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) unlink(entry->path().c_str());
  }
}

}  // namespace mailbench
