// One line of progress on a terminal, and nothing anywhere else.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace mailbench {

// "[3/24] lamport graph 1024 B, 12 s", cut to `width` columns: a line that wraps cannot be erased.
std::string FormatProgress(std::size_t done, std::size_t total, const std::string& current,
                           std::chrono::seconds elapsed, std::size_t width);

class Progress {
 public:
  // Writes to `fd`, standard error as a rule, when that is a terminal.
  Progress(int fd, std::size_t total);
  // Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows that `done` points are finished and that the point `current` runs.
  void Show(std::size_t done, const std::string& current);
  // Frees the line for other output: before each row of the table.
  void Erase();

 private:
  void Write(const std::string& text) const;

  int fd_;
  bool terminal_;
  bool shown_ = false;
  std::size_t total_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace mailbench
