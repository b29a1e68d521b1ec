// What a run does about its report before it measures anything.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "harness/report/journal.h"
#include "harness/report/run_facts.h"

namespace mailbench {

struct ReportOptions {
  std::string path;  // --json
  bool force = false;
  bool resume = false;
  // How a run with the same flags goes on with what an earlier one left, as messages say it; "" for
  // one that always starts anew.
  std::string how_to_resume = "--resume";
};

struct PreparedReport {
  ReportOptions options;
  std::set<std::string> finished;   // ToString(PointKey) of the points of the earlier run
  bool any_wrong = false;           // one of them did not pass its check
  std::vector<std::string> points;  // JSON text of the same, in order
  bool replace_journal = false;
  bool ended = false;  // the earlier run came to its end, right or wrong
};

// Checks that a report can be written at `options.path` and reads what an earlier run has finished,
// with `options.resume`: from its journal, where there is one, else from its report. Nothing to
// resume is fine. Creates, changes and removes nothing.
// Throws UsageError, which names the path and says how to go on: the directory is missing or cannot
// be written; the path is not a plain file; a report or a journal is there and neither force nor
// resume was given; another run is writing; the earlier run was not `identity`.
PreparedReport PrepareReport(const ReportOptions& options, const RunIdentity& identity);

// Whether there is a file at `path` that a new one can replace; false where there is nothing and
// one can be written. Throws UsageError otherwise, for a file that is `what`: "report".
bool IsReplaceable(const std::string& path, const std::string& what);

// Starts the journal of the run, with the points of the earlier one. An existing report stays until
// FinishReport replaces it. Throws UsageError, or SystemError when the system refuses, a full disk
// for instance; an old journal is still there then.
JournalWriter OpenJournal(const PreparedReport& prepared, const RunFacts& facts);

}  // namespace mailbench
