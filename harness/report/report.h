// The report of a run, assembled from its journal and put in its place in one step.
#pragma once

#include <string>

#include "harness/report/journal.h"
#include "harness/report/run_facts.h"

namespace mailbench {

// The report's text. A dropped last line of the journal is added to the errors.
std::string AssembleReport(const JournalContents& journal, RunEnding ending);

// Replaces the file at `path`, if any, by `text`: a reader sees the old file or the new one. Throws
// SystemError naming the path; the old file is still there then.
void WriteReport(const std::string& path, const std::string& text);

// Writes the report at `report_path` from its journal alone, so that any process can do it, from
// any thread, whatever became of the process that wrote the journal; several may do it at once, the
// last one wins. When the run is complete (kPassed or kWrong) or a stress, which is never resumed,
// the journal is removed afterwards; otherwise it stays for --resume. Where there is a report and
// no journal, another process has written the report: does nothing. REQUIRES: OpenJournal has
// returned. Throws SystemError or UsageError, which name the path; the journal is kept then.
void FinishReport(const std::string& report_path, const RunEnding& ending);

}  // namespace mailbench
