#include "harness/report/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "harness/error.h"
#include "harness/report/report_json.h"

namespace mailbench {
namespace {

std::string Lines(const std::string& header, const std::vector<std::string>& points) {
  std::string text = header + '\n';
  for (const std::string& point : points) text += point + '\n';
  return text;
}

void KeepNewest(std::vector<std::string>& stress, std::string line) {
  const auto older = std::find_if(stress.begin(), stress.end(), [&](const std::string& other) {
    return SameStress(other, line);
  });
  if (older == stress.end()) {
    stress.push_back(std::move(line));
  } else {
    *older = std::move(line);
  }
}

FileDescriptor CreateNew(const std::string& path, const std::string& text) {
  FileDescriptor fd(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid() && errno == EEXIST) {
    throw UsageError(path + " exists: another run has just started or did not finish");
  }
  if (!fd.valid()) throw SystemError("cannot create " + path + ": " + ErrnoText(errno));
  flock(fd.get(), LOCK_EX | LOCK_NB);
  int error = WriteFully(fd.get(), text);
  if (error == 0 && fdatasync(fd.get()) != 0) error = errno;
  if (error == 0) return fd;
  unlink(path.c_str());
  throw SystemError("cannot write " + path + ": " + ErrnoText(error));
}

FileDescriptor CreateReplacing(const std::string& path, const std::string& text) {
  ReplacementFile file(path);
  flock(file.fd(), LOCK_EX | LOCK_NB);
  file.Write(text);
  return file.Commit();
}

}  // namespace

std::string JournalPath(const std::string& report_path) { return report_path + ".journal"; }

JournalContents ReadJournal(const std::string& path) {
  const std::string text = ReadFile(path);
  JournalContents contents;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    ++number;
    const std::size_t end = text.find('\n', begin);
    const bool whole = end != std::string::npos;
    std::string line = text.substr(begin, end - begin);
    begin = whole ? end + 1 : text.size();
    const bool last = begin == text.size();
    if (!whole || (last && number > 1 && !IsJson(line))) {
      contents.torn = true;
    } else if (line.empty() || line.front() != '{' || !IsJson(line)) {
      throw UsageError(path + ", line " + std::to_string(number) + ": not a JSON object");
    } else if (number == 1) {
      contents.header = std::move(line);
    } else if (IsStressJson(line)) {
      KeepNewest(contents.stress, std::move(line));
    } else {
      contents.points.push_back(std::move(line));
    }
  }
  if (contents.header.empty()) throw UsageError(path + " has no whole first line");
  return contents;
}

JournalWriter::JournalWriter(std::string path, FileDescriptor fd, std::size_t points)
    : path_(std::move(path)), fd_(std::move(fd)), points_(points) {}

JournalWriter JournalWriter::Create(const std::string& path, const std::string& header,
                                    const std::vector<std::string>& points, bool replace) {
  const std::string text = Lines(header, points);
  return {path, replace ? CreateReplacing(path, text) : CreateNew(path, text), points.size()};
}

void JournalWriter::Append(const PointRecord& point) {
  AppendLine(PointJson(point) + '\n',
             "the " + std::to_string(points_) +
                 " points finished before are kept in it: go on with --resume");
  ++points_;
}

void JournalWriter::Append(const StressRecord& record) {
  AppendLine(StressJson(record) + '\n', "what was found before is kept in it");
}

void JournalWriter::AppendLine(const std::string& line, const std::string& consolation) {
  struct stat before = {};
  int error = fstat(fd_.get(), &before) == 0 ? 0 : errno;
  if (error == 0) {
    error = WriteFully(fd_.get(), line);
    if (error == 0 && fdatasync(fd_.get()) != 0) error = errno;
    // Without this the next point would continue half a line.
    if (error != 0 && ftruncate(fd_.get(), before.st_size) != 0) error = errno;
  }
  if (error != 0) {
    throw SystemError("cannot write " + path_ + ": " + ErrnoText(error) + "; " + consolation);
  }
}

bool IsJournalInUse(const std::string& path) {
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.valid() && flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace mailbench
