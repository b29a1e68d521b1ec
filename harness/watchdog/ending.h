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
  // run.reason of the report: one to three lines, and behind them those of the evidence.
  std::string reason;
  std::optional<int> rank = {};  // at fault, where it is one alone
};

// Writes the report of a run that ends before its time, from what is on disk. Called at most once
// a process, on the watchdog's thread or on the one that called Watchdog::EndRun, while the main
// thread may be anywhere: it takes no lock that the main thread may hold for long, uses no MPI, and
// replaces the report in one step. It should take less than kReportPatienceMs. Returns what to
// add to the announcement of the reason, "" for nothing. May throw.
using EndCallback = std::function<std::string(const Ending&)>;

// Returns lines to add to the reason of a run that hung, "" for none: what still shows who is
// waited for. Called at most once a process, before any rank stops its device, on a thread of its
// own, which is left behind after kEvidenceLimitMs; then, or when it throws, nothing is added. It
// owns what it uses, or uses what lasts as long as the process.
using EvidenceCallback = std::function<std::string()>;

// Completes the ending of a run with what only this process's owner knows: may make it worse, and
// may add to the reason. Called at most once a process, on the thread that ends the run; quick.
using AmendCallback = std::function<void(Ending&)>;

// Ends what this process still has under way on a device and waits for that, so that the device is
// free when the process is gone. Called once by each rank that leaves, like EvidenceCallback, and
// left behind after kStopDeviceLimitMs; may throw.
using StopDeviceCallback = std::function<void()>;

// Open MPI's launcher, once a rank has died or left with an error: SIGCONT to the others; a second
// later, or at once when another rank goes meanwhile, SIGTERM; another second later, or at once
// when another goes, SIGKILL (seen with 4.1.4: odls_base_sigkill_timeout, whose sleep ends with any
// SIGCHLD). So the first rank to leave takes the others along: none leaves before all have stopped
// their devices and the claimer is done, and all together take less than the one second that is
// left in the worst case. A death is seen within 50 ms, and a claim within 50 ms of it.
constexpr int kEvidenceLimitMs = 150;
constexpr int kStopDeviceLimitMs = 300;
constexpr int kReportPatienceMs = 350;  // that the others wait for the report
// A rank leaves this long after it has seen that another ends the run, whatever the others do.
constexpr int kFollowerPatienceMs = kEvidenceLimitMs + kStopDeviceLimitMs + kReportPatienceMs;
// The reason is printed this long after it has been said, whether or not the report is written.
constexpr int kAnnounceAfterMs = 400;
static_assert(kEvidenceLimitMs + kAnnounceAfterMs < kFollowerPatienceMs);
// A callback or a full pipe that takes longer than this is given up.
constexpr int kEndingLimitMs = 5000;

struct EndingContext {
  std::optional<BoardView> board;  // nothing: this process ends alone
  int rank = 0;                    // of the launcher
  EndCallback callback;            // these four may be empty
  EvidenceCallback evidence;
  AmendCallback amend;
  StopDeviceCallback stop_device;
};

// Claims the board; then, in this order, takes the evidence when the run hung, amends the ending,
// says it on the board, stops the device, calls the callback, prints the reason to stderr, marks
// the run as ended and leaves with _exit(code), when all can. When another rank has claimed the
// board: stops the device once that one has said the ending, since its evidence is not to be
// disturbed, or is late with it; leaves with its code when it is done and all can; takes its place
// when it dies before it is done. `ending` is empty when this rank only follows a claim that it has
// seen. REQUIRES: called by one thread of the process only, and never again.
[[noreturn]] void EndProcess(const EndingContext& context, std::optional<Ending> ending);

}  // namespace mailbench
