#include "harness/report/report.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "harness/error.h"
#include "harness/report/file.h"
#include "harness/report/report_json.h"

namespace mailbench {
namespace {

bool IsComplete(RunStatus status) {
  return status == RunStatus::kPassed || status == RunStatus::kWrong;
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

std::string AssembleReport(const JournalContents& journal, RunEnding ending) {
  if (journal.torn) {
    ending.errors.push_back(
        {std::nullopt, "the last line of the journal was not whole and was dropped"});
  }
  return ReportJson(journal.header, journal.points, journal.stress, ending);
}

void WriteReport(const std::string& path, const std::string& text) {
  ReplacementFile file(path);
  file.Write(text);
  file.Commit();
}

void FinishReport(const std::string& report_path, const RunEnding& ending) {
  const std::string journal_path = JournalPath(report_path);
  JournalContents journal;
  try {
    journal = ReadJournal(journal_path);
  } catch (const SystemError&) {
    if (!Exists(journal_path) && Exists(report_path)) return;
    throw;
  }
  const bool stress = IsOfStress(journal.header);
  try {
    WriteReport(report_path, AssembleReport(journal, ending));
  } catch (const SystemError& error) {
    throw SystemError(std::string(error.what()) + "; " +
                      (stress ? "what was found is kept in " + journal_path
                              : "the " + std::to_string(journal.points.size()) +
                                    " finished points are kept in " + journal_path +
                                    ": go on with --resume"));
  }
  if (stress || IsComplete(ending.status)) unlink(journal_path.c_str());
}

}  // namespace mailbench
