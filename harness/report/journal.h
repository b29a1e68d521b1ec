// The journal: what a run has measured so far, on disk as soon as it is measured.
//
// A file of JSON lines beside the report, "<report>.journal". The first line is the header
// (HeaderJson), each further line is one finished point (PointJson) or what a stress of one
// algorithm has found so far (StressJson). Only one process writes it; any process may read it at
// any time.
#pragma once

#include <string>
#include <vector>

#include "harness/report/file.h"
#include "harness/report/point_record.h"
#include "harness/report/stress_record.h"

namespace mailbench {

std::string JournalPath(const std::string& report_path);

struct JournalContents {
  std::string header;               // JSON text
  std::vector<std::string> points;  // JSON text each, in the order in which they finished
  // The last line was not whole, as a crash in the middle of a write leaves it, and was dropped.
  bool torn = false;
  std::vector<std::string> stress = {};  // JSON text each: the newest line of each algorithm
};

// Throws SystemError when `path` cannot be read, UsageError naming path and line when a line other
// than the last is not JSON or the header is missing.
JournalContents ReadJournal(const std::string& path);

// Writes a journal and holds its lock. The destructor closes the file and leaves it there.
class JournalWriter {
 public:
  // With `replace`, the new journal takes the place of an existing one in a single step; without,
  // throws UsageError when there is one. `points` are those that an earlier run has finished.
  // Throws SystemError, which names the path; no new file is left then.
  static JournalWriter Create(const std::string& path, const std::string& header,
                              const std::vector<std::string>& points, bool replace);

  JournalWriter(JournalWriter&&) = default;
  JournalWriter& operator=(JournalWriter&&) = default;

  // The point is on the disk when this returns. Throws SystemError when it cannot be: the file then
  // ends with the point before.
  void Append(const PointRecord& point);
  // The same. Takes the place of what was appended about the same algorithm before.
  void Append(const StressRecord& record);

 private:
  JournalWriter(std::string path, FileDescriptor fd, std::size_t points);
  // `consolation`: what the error adds.
  void AppendLine(const std::string& line, const std::string& consolation);

  std::string path_;
  FileDescriptor fd_;
  std::size_t points_ = 0;
};

// Whether a living process writes the journal at `path`.
bool IsJournalInUse(const std::string& path);

}  // namespace mailbench
