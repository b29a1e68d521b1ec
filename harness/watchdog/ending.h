// How a run ends that cannot go on: one rank of the host writes the report and prints the reason,
// and all of them leave.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "harness/error.h"
#include "harness/run_status.h"
#include "harness/watchdog/board_view.h"

namespace mailbench {

struct Ending {
  ExitCode code = ExitCode::kFailed;  // not kPassed
  RunStatus status = RunStatus::kFailed;
  std::string reason;  // run.reason of the report: one to three lines
};

// Writes the report of a run that ends before its time, from what is on disk. Called at most once
// a process, on the watchdog's thread or on the one that called Watchdog::EndRun, while the main
// thread may be anywhere: it takes no lock that the main thread may hold for long, uses no MPI, and
// replaces the report in one step. It should take less than kFollowerPatienceMs. Returns what to
// add to the announcement of the reason, "" for nothing. May throw.
using EndCallback = std::function<std::string(const Ending&)>;

// A rank leaves this long after it has seen that another ends the run, whether or not that one has
// said that it is done.
constexpr int kFollowerPatienceMs = 400;
// A callback or a full pipe that takes longer than this is given up.
constexpr int kEndingLimitMs = 5000;

struct EndingContext {
  std::optional<BoardView> board;  // nothing: this process ends alone
  int rank = 0;                    // of the launcher
  EndCallback callback;            // may be empty
};

// Claims the board; then calls the callback, prints the reason to stderr, marks the run as ended
// and leaves with _exit(code). When another rank has claimed the board: leaves with that one's
// code; takes its place when it dies before it is done. `ending` is empty when this rank only
// follows a claim that it has seen.
// REQUIRES: called by one thread of the process only, and never again.
[[noreturn]] void EndProcess(const EndingContext& context, std::optional<Ending> ending);

}  // namespace mailbench
