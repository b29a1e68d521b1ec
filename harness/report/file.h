// Files written so that a crash, a full disk or a second writer never leaves half of one.
#pragma once

#include <string>

#include "harness/file_descriptor.h"

namespace mailbench {

// The directory that `path` is in: "." for a bare name.
std::string DirectoryOf(const std::string& path);

// Writes all of `text`. Returns 0, or errno. A short write without a cause counts as ENOSPC.
int WriteFully(int fd, const std::string& text);

// Throws SystemError, which names the path.
std::string ReadFile(const std::string& path);

// A new file under a temporary name, to take the place of `path` in one step. Its name starts with
// a dot, ends in ".tmp" and holds the process's id: "*.json" never matches it, and two writers
// never share it. Without Commit, the destructor removes it.
// Every function throws SystemError, which names the path.
class ReplacementFile {
 public:
  explicit ReplacementFile(std::string path);
  ~ReplacementFile();
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;

  int fd() const { return fd_.get(); }
  void Write(const std::string& text);
  // Syncs the file, renames it over `path` and syncs the directory. Hands over the descriptor.
  FileDescriptor Commit();

 private:
  std::string path_;
  std::string temporary_;  // empty once it has its final name
  FileDescriptor fd_;
};

// Removes temporaries for `path` whose writers on this machine were killed. Never throws.
void RemoveStaleReplacements(const std::string& path);

}  // namespace mailbench
