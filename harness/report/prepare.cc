#include "harness/report/prepare.h"

#include <sys/stat.h>

#include <cerrno>
#include <optional>
#include <stdexcept>

#include "harness/error.h"
#include "harness/report/file.h"
#include "harness/report/report_json.h"

namespace mailbench {
namespace {

// Whether `path` exists. Throws UsageError when it is anything but a plain file, which a rename
// could not replace or should not: a directory, a device, a link.
bool IsPlainFile(const std::string& path, const std::string& what = "report") {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    throw UsageError("cannot use " + path + " for a " + what + ": " + ErrnoText(errno));
  }
  if (S_ISDIR(status.st_mode)) throw UsageError(path + " is a directory; a " + what + " is a file");
  if (!S_ISREG(status.st_mode)) throw UsageError(path + " is not a plain file");
  return true;
}

void RequireDirectory(const std::string& path, const std::string& what = "report") {
  const std::string directory = DirectoryOf(path);
  struct stat status = {};
  if (stat(directory.c_str(), &status) != 0) {
    throw UsageError("cannot write " + what + " " + path + ": directory " + directory + ": " +
                     ErrnoText(errno));
  }
  if (!S_ISDIR(status.st_mode)) {
    throw UsageError("cannot write " + what + " " + path + ": " + directory +
                     " is not a directory");
  }
}

// By trial: permissions do not tell what root may do on a read-only or special file system.
void RequireWritable(const std::string& path, const std::string& what = "report") try {
  const ReplacementFile trial(path);
} catch (const SystemError& error) {
  throw UsageError("cannot write " + what + " " + path + ": " + error.what());
}

std::string FirstLine(const std::string& path) {
  const std::string text = ReadFile(path);
  return text.substr(0, text.find('\n'));
}

struct Earlier {
  std::string source;
  ReportPieces pieces;
};

std::optional<Earlier> ReadEarlier(const std::string& path, bool report, bool journal) {
  const std::string journal_path = JournalPath(path);
  // A journal whose header was never finished holds nothing.
  if (journal && ReadFile(journal_path).find('\n') != std::string::npos) {
    const JournalContents contents = ReadJournal(journal_path);
    return Earlier{journal_path, {contents.header, contents.points}};
  }
  if (report) return Earlier{path, SplitReport(ReadFile(path), path)};
  return std::nullopt;
}

}  // namespace

bool IsReplaceable(const std::string& path, const std::string& what) {
  RequireDirectory(path, what);
  if (path.back() == '/') throw UsageError(path + " is a directory; a " + what + " is a file");
  const bool there = IsPlainFile(path, what);
  RequireWritable(path, what);
  return there;
}

PreparedReport PrepareReport(const ReportOptions& options, const RunIdentity& identity) {
  const std::string& path = options.path;
  const std::string journal_path = JournalPath(path);
  if (path.empty()) throw std::invalid_argument("a report needs a path");
  if (options.force && options.resume) {
    throw UsageError("--force and --resume exclude each other: start anew, or go on");
  }
  RequireDirectory(path);
  if (path.back() == '/') throw UsageError(path + " is a directory; a report is a file");
  const bool report = IsPlainFile(path);
  const bool journal = IsPlainFile(journal_path);
  if (journal && IsJournalInUse(journal_path)) {
    throw UsageError("another run is writing " + journal_path);
  }
  if (journal && !options.force && !options.resume) {
    const bool resumable = !options.how_to_resume.empty() && !IsOfStress(FirstLine(journal_path));
    throw UsageError("an earlier run left " + journal_path + ": it did not finish; " +
                     (resumable ? "go on with " + options.how_to_resume + ", or " : "") +
                     "start anew with --force");
  }
  if (report && !options.force && !options.resume) {
    throw UsageError("report " + path + " exists; replace it with --force, or give another name");
  }
  RequireWritable(path);

  PreparedReport prepared;
  prepared.options = options;
  prepared.replace_journal = options.force || options.resume;
  if (!options.resume) return prepared;
  std::optional<Earlier> earlier = ReadEarlier(path, report, journal);
  if (!earlier) return prepared;
  const std::string difference =
      DifferenceForResume(earlier->pieces.header, identity, earlier->source);
  if (!difference.empty()) {
    throw UsageError("cannot resume " + earlier->source + ": " + difference);
  }
  for (const std::string& point : earlier->pieces.points) {
    const PointSummary summary = SummarizePoint(point, earlier->source);
    prepared.finished.insert(summary.key);
    prepared.any_wrong = prepared.any_wrong || summary.wrong;
  }
  prepared.points = std::move(earlier->pieces.points);
  prepared.ended = !journal && HasEnded(earlier->pieces.header);
  return prepared;
}

JournalWriter OpenJournal(const PreparedReport& prepared, const RunFacts& facts) {
  const std::string& path = prepared.options.path;
  RemoveStaleReplacements(path);
  RemoveStaleReplacements(JournalPath(path));
  return JournalWriter::Create(JournalPath(path),
                               HeaderJson(facts, static_cast<int>(prepared.points.size())),
                               prepared.points, prepared.replace_journal);
}

}  // namespace mailbench
