// Where a process can show what it is doing.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/file_descriptor.h"

namespace mailbench {

struct Screen {
  int fd = STDERR_FILENO;   // to write to
  FileDescriptor terminal;  // that it leads to; none where lines are all that can be written

  bool redraws() const { return terminal.valid(); }
  std::size_t width() const;  // columns; 80 where the terminal does not say
};

// The terminal of standard output, where the rows of a table go too, so that a line is erased
// before the row that takes its place; otherwise that of standard error; otherwise standard error
// for lines alone, as on a terminal that cannot erase (TERM is "dumb" or not set). A launcher
// stands in between: Open MPI gives a rank a pseudo terminal as standard output and a pipe as
// standard error, whatever its own are (seen with 4.1.4), and passes on what it reads there. So
// what counts, for a rank that was launched, is where standard output and error of its parent lead.
// A parent that is no launcher at a terminal (a daemon on another host) has none.
Screen FindScreen();

// The same of the standard output and error that are `descriptors`/1 and `descriptors`/2.
Screen FindScreen(const std::string& descriptors, std::string_view term);

}  // namespace mailbench
