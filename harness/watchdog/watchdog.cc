#include "harness/watchdog/watchdog.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/watchdog/diagnosis.h"
#include "harness/watchdog/signals.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kTick{50};
// A longer gap between two ticks means that this process was stopped itself: no time in which its
// peers could have shown it anything.
constexpr std::int64_t kLongestTickNs = 1'000'000'000;
// How much later than its peers a rank may start.
constexpr std::int64_t kSetUpSkewNs = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;
constexpr double kLongestSeconds = 1e9;  // 31 years: what 64 bits of nanoseconds hold with ease

Ending Interrupted(int rank, int signal, const std::string& where) {
  return {
      .code = ExitCode::kFailed,
      .status = RunStatus::kInterrupted,
      .reason = "rank " + std::to_string(rank) + " received " + SignalName(signal) + " " + where,
      .rank = rank};
}

Ending HungBy(const Diagnosis& diagnosis) {
  const std::vector<int>& culprits = diagnosis.culprits;
  return {.code = ExitCode::kHung,
          .status = RunStatus::kHung,
          .reason = diagnosis.text,
          .rank = culprits.size() == 1 ? std::optional(culprits.front()) : std::nullopt};
}

}  // namespace

Watchdog::Watchdog(WatchdogOptions options)
    : timeout_ns_(static_cast<std::int64_t>(
          std::clamp(options.timeout_seconds, 0.0, kLongestSeconds) * kNsPerSecond)),
      namer_(std::move(options.namer)),
      context_{.board = std::nullopt,
               .rank = options.rank,
               .callback = std::move(options.callback),
               .evidence = std::move(options.evidence),
               .amend = std::move(options.amend),
               .stop_device = std::move(options.stop_device)},
      counting_from_ns_(MonotonicNow()),
      last_tick_ns_(counting_from_ns_),
      thread_([this] { Run(); }) {}

Watchdog::~Watchdog() { Stop(); }

void Watchdog::Attach(const BoardView& board) {
  const std::lock_guard lock(mutex_);
  context_.board = board;
  counting_from_ns_ = MonotonicNow();
}

void Watchdog::Detach() {
  const std::lock_guard lock(mutex_);
  context_.board.reset();
  finishing_ = true;
  counting_from_ns_ = MonotonicNow();
}

void Watchdog::Stop() {
  stopping_.store(true);
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Watchdog::EndRun(const Ending& ending) {
  mutex_.lock();  // for good: the process ends here
  EndProcess(context_, ending);
}

void Watchdog::Run() {
  while (!stopping_.load()) {
    const int signal = WaitForSignal(kTick);
    const std::lock_guard lock(mutex_);
    if (!stopping_.load()) {
      Tick(signal);
    }
  }
}

void Watchdog::Tick(int signal) {
  const std::int64_t now_ns = MonotonicNow();
  if (now_ns - last_tick_ns_ > kLongestTickNs) {
    counting_from_ns_ = now_ns;
  }
  last_tick_ns_ = now_ns;
  if (!context_.board) {
    TickWithoutBoard(signal, now_ns);
    return;
  }
  const BoardView& board = *context_.board;
  if (IsClaimed(board)) {
    EndProcess(context_, std::nullopt);
  }
  // A signal may be how a launcher reacts to the death of any rank.
  std::vector<RankSnapshot> snapshots =
      signal == 0 ? TakeSnapshots(board, Liveness::kNextRank) : TakeNamedSnapshots();
  if (Diagnose(snapshots, now_ns, timeout_ns_, counting_from_ns_)) {
    snapshots = TakeNamedSnapshots();
    if (const auto diagnosis = Diagnose(snapshots, now_ns, timeout_ns_, counting_from_ns_)) {
      EndProcess(context_, HungBy(*diagnosis));
    }
  }
  const bool finished = std::all_of(
      snapshots.begin(), snapshots.end(),
      [](const RankSnapshot& snapshot) { return snapshot.state.phase == Phase::kFinished; });
  if (signal != 0 && !finished) {
    EndProcess(context_, Interrupted(context_.rank, signal, Describe(snapshots[board.own].state)));
  }
}

std::vector<RankSnapshot> Watchdog::TakeNamedSnapshots() const {
  std::vector<RankSnapshot> snapshots = TakeSnapshots(*context_.board, Liveness::kAllRanks);
  for (RankSnapshot& snapshot : snapshots) {
    if (namer_) {
      snapshot.state.name = namer_(snapshot.state.phase, snapshot.state.point);
    }
  }
  return snapshots;
}

void Watchdog::TickWithoutBoard(int signal, std::int64_t now_ns) {
  const bool signalled = signal != 0 && !finishing_;
  const std::int64_t limit_ns = std::max(timeout_ns_, kLeastSetUpNs);
  const std::int64_t left_ns = counting_from_ns_ + limit_ns - now_ns;
  if (left_ns < 0 || (signalled && left_ns < kSetUpSkewNs)) {
    std::array<char, 96> reason{};
    std::snprintf(reason.data(), reason.size(), "the ranks did not %s within %.1f s",
                  finishing_ ? "leave MPI" : "meet", static_cast<double>(limit_ns) / kNsPerSecond);
    EndProcess(context_, Ending{ExitCode::kHung, RunStatus::kHung, reason.data()});
  }
  if (signalled) {
    EndProcess(context_, Interrupted(context_.rank, signal, "before the ranks had met"));
  }
}

}  // namespace mailbench
