// Makes a run end whatever happens: one thread a rank that looks for signals, for peers that died
// and for ranks that do not move, while the main thread may be stuck anywhere.
//
//   BlockSignals();                             // first thing in main
//   Watchdog watchdog({.timeout_seconds = t, .rank = launcher.rank, .callback = write_report});
//   MpiRanks ranks(&argc, &argv);
//   RunBoard board(ranks);
//   watchdog.Attach(board.view());
//   Heartbeat heartbeat(board.slot());
//   ...                                         // an exception of one rank: watchdog.EndRun(...)
//   heartbeat.Enter(Phase::kFinished, 0);       // the report is written
//   ranks.Barrier();                            // still watched: a peer may hang in its report
//   watchdog.Detach();
//   board.Free();
//   ranks.Finalize();
//   watchdog.Stop();
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harness/watchdog/board_view.h"
#include "harness/watchdog/ending.h"

namespace mailbench {

// Names the point or, in kStress, the algorithm of that index; "" when its name is not known.
// Called when a run ends, on the watchdog's thread.
using PointNamer = std::function<std::string(Phase phase, std::uint32_t point)>;

struct WatchdogOptions {
  // See Diagnose. Without a board: for the whole of set-up, and 5 s at least.
  double timeout_seconds = 60;
  // Of the launcher (see ReadLauncherEnvironment): without a board, rank 0 alone prints the reason.
  int rank = 0;
  // Writes the report. With a board one rank of the host calls it; without one, each rank for
  // itself.
  EndCallback callback;
  // See EvidenceCallback, AmendCallback and StopDeviceCallback. Each may be empty.
  EvidenceCallback evidence = nullptr;
  AmendCallback amend = nullptr;
  StopDeviceCallback stop_device = nullptr;
  PointNamer namer = nullptr;  // may be empty
};

class Watchdog {
 public:
  // Starts the thread. Without a board it honours signals (kInterrupted) and the timeout,
  // from now (kHung); a signal within a second of the timeout counts as that, because it is
  // how a launcher ends a rank whose peer ran out of time first. REQUIRES: BlockSignals was called.
  explicit Watchdog(WatchdogOptions options);
  ~Watchdog();  // Stop
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // From here on watches the ranks of the board. The run ends, in this order of precedence,
  // - with the code that another rank of the board said, when that one ends it;
  // - kHung on a Diagnosis;
  // - kFailed, kInterrupted, on a signal, unless every rank is in kFinished: then the signal is
  //   dropped.
  void Attach(const BoardView& board);
  // Stops watching the board. The timeout counts anew, for what is left of the run; signals are
  // dropped. REQUIRES: every rank of the board, if there is one, is in kFinished. Idempotent.
  void Detach();
  // Ends the thread. Idempotent.
  void Stop();

  // Ends the run from the main thread, as the watchdog itself does: for an error that the other
  // ranks do not know of, or that all have. The first rank to call decides the code and the
  // reason; its report is written, its reason printed, and all ranks leave with its code.
  [[noreturn]] void EndRun(const Ending& ending);

 private:
  void Run();
  void Tick(int signal);
  void TickWithoutBoard(int signal, std::int64_t now_ns);
  // With the names of their points.
  std::vector<RankSnapshot> TakeNamedSnapshots() const;

  const std::int64_t timeout_ns_;
  const PointNamer namer_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;  // guards all below; whoever ends the run never gives it back
  EndingContext context_;
  bool finishing_ = false;             // after Detach
  std::int64_t counting_from_ns_ = 0;  // silence before this does not count
  std::int64_t last_tick_ns_ = 0;
  std::thread thread_;
};

}  // namespace mailbench
