#include "harness/run/run.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/memory/transport.h"
#include "harness/ranks/launcher.h"
#include "harness/ranks/mpi_ranks.h"
#include "harness/ranks/vote_on.h"
#include "harness/report/progress.h"
#include "harness/report/report.h"
#include "harness/report/table.h"
#include "harness/run/agreement.h"
#include "harness/run/dry_run.h"
#include "harness/run/estimate.h"
#include "harness/run/points.h"
#include "harness/run/preparation.h"
#include "harness/run/progress_of.h"
#include "harness/run/stress.h"
#include "harness/run/stress_findings.h"
#include "harness/run/sweep.h"
#include "harness/watchdog/current_instance.h"
#include "harness/watchdog/run_board.h"
#include "harness/watchdog/signals.h"
#include "harness/watchdog/watchdog.h"

namespace mailbench {
namespace {

int AsExit(ExitCode code) { return static_cast<int>(code); }

void PrintError(const std::string& what) { std::fprintf(stderr, "mailbench: %s\n", what.c_str()); }

// Prints what does not need other ranks: --help, --version, or why the arguments were refused.
int Answer(const ParsedArguments& parsed) {
  if (!parsed.error.empty()) {
    PrintError(parsed.error);
    return AsExit(ExitCode::kUsage);
  }
  std::fputs(parsed.command_line.text.c_str(), stdout);
  return AsExit(ExitCode::kPassed);
}

RunStatus StatusOf(ExitCode code) {
  switch (code) {
    case ExitCode::kMachine:
    case ExitCode::kUsage:
      return RunStatus::kRefused;
    case ExitCode::kWrong:
      return RunStatus::kWrong;
    case ExitCode::kHung:
      return RunStatus::kHung;
    case ExitCode::kPassed:
    case ExitCode::kFailed:
      break;
  }
  return RunStatus::kFailed;
}

// Of a run that was cut short, once its report is written.
std::string WhatIsLeftOf(const RunConfig& config) {
  const std::string report = "the report " + config.json;
  const std::string flags = HowToResume(config);
  if (flags.empty()) return report + " holds what was found";
  return report + " holds what was finished: " + flags + " goes on from there";
}

// Of an error on `rank`.
Ending EndingOf(const std::exception& error, int rank) {
  if (const auto* typed = dynamic_cast<const Error*>(&error)) {
    return {typed->code(), StatusOf(typed->code()), typed->what()};
  }
  return {ExitCode::kFailed, RunStatus::kFailed,
          "rank " + std::to_string(rank) + ": " + error.what()};
}

// What the thread that ends a run may look at and stop, while the main thread is stuck anywhere.
struct LiveParts {
  CurrentInstance instance;
  StressFindings findings;
  std::mutex mutex;                 // guards what follows
  Executor* executor = nullptr;     // null: nothing runs
  std::vector<std::string> points;  // of the plan: their names
  std::vector<std::string> algorithms;

  void Show(const SweepPlan& plan) {
    const std::lock_guard lock(mutex);
    algorithms = plan.algorithms;
    for (const SweepPoint& point : plan.points) points.push_back(NameOf(point.key));
  }
  std::string Name(Phase phase, std::uint32_t index) {
    const std::lock_guard lock(mutex);
    const std::vector<std::string>& names = phase == Phase::kStress ? algorithms : points;
    return index < names.size() ? names[index] : "";
  }

  void Stop() {
    StopShowingProgress();
    const std::lock_guard lock(mutex);
    if (executor != nullptr) executor->Abandon(std::chrono::milliseconds(kStopDeviceLimitMs));
  }
};

// Shows an executor to the thread that ends a run, for as long as this lives.
class LiveExecutor {
 public:
  LiveExecutor(LiveParts* live, Executor* executor) : live_(live) { Set(executor); }
  ~LiveExecutor() { Set(nullptr); }
  LiveExecutor(const LiveExecutor&) = delete;
  LiveExecutor& operator=(const LiveExecutor&) = delete;

 private:
  void Set(Executor* executor) {
    const std::lock_guard lock(live_->mutex);
    live_->executor = executor;
  }
  LiveParts* live_;
};

// A run under way. One a process.
class Session {
 public:
  Session(Collective& collective, const RunConfig& config, Ranks& ranks, Watchdog& watchdog,
          std::atomic<bool>& journal_open, LiveParts& live)
      : collective_(collective),
        config_(config),
        ranks_(ranks),
        watchdog_(watchdog),
        journal_open_(journal_open),
        live_(live) {}

  // Returns the exit code. Throws, on every rank alike, when the run is refused before its report
  // is opened; SystemError, perhaps on one rank alone, while it may still be refused. From then on
  // an error of any rank ends the process from inside. A rank that stops moving ends it at any
  // time.
  ExitCode Run(const LauncherFacts& launcher, const RunHooks& hooks) {
    RunBoard board(ranks_);
    watchdog_.Attach(board.view());
    Heartbeat heartbeat(board.slot(), hooks.observer);
    ranks_.OnMeeting([&] { heartbeat.CountMeeting(); });
    heartbeat.Enter(Phase::kSetUp, 0);
    std::exception_ptr refusal;
    ExitCode code = ExitCode::kFailed;
    if (std::optional<Prepared> prepared = PrepareOrRefuse(hooks, refusal)) {
      code = Carry(*prepared, launcher, hooks, heartbeat);
    }
    heartbeat.Enter(Phase::kFinished, 0);
    ranks_.Barrier();
    watchdog_.Detach();
    ranks_.OnMeeting(nullptr);
    board.Free();
    if (refusal) std::rethrow_exception(refusal);
    return code;
  }

 private:
  // Nothing, and `refusal`, on every rank alike, when the run is refused.
  std::optional<Prepared> PrepareOrRefuse(const RunHooks& hooks,
                                          std::exception_ptr& refusal) const {
    try {
      return Prepare(collective_, config_, ranks_, hooks.transports);
    } catch (const SystemError&) {
      throw;                  // the other ranks may not know of it
    } catch (const Error&) {  // of a vote or of what all ranks know
      refusal = std::current_exception();
      return std::nullopt;
    }
  }

  // Lists what would run, or runs it.
  ExitCode Carry(Prepared& prepared, const LauncherFacts& launcher, const RunHooks& hooks,
                 Heartbeat& heartbeat) {
    Transport& transport = *prepared.transport.transport;
    std::optional<LiveExecutor> live(std::in_place, &live_, &transport.executor());
    try {
      if (config_.list || config_.dry_run) {
        PrintOnRankZero(ListingOf(prepared, hooks));
        live.reset();
        transport.Free();
        return ExitCode::kPassed;
      }
      PrintOnRankZero(HeadOf(prepared, launcher.launched) + ResumeNote(prepared));
      SweepResult result;
      result.resumed = prepared.plan.points.size();
      if (!prepared.complete) {
        OpenReport(prepared);
        live_.Show(prepared.plan);
        result = Measure(prepared, heartbeat);
      }
      live.reset();
      transport.Free();
      return Report(prepared, result, heartbeat);
    } catch (const std::exception& error) {
      watchdog_.EndRun(EndingOf(error, ranks_.rank()));
    }
  }

  void PrintOnRankZero(const std::string& text) const {
    if (ranks_.rank() != 0) return;
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }

  std::string ListingOf(const Prepared& prepared, const RunHooks& hooks) const {
    const Site& site = prepared.transport.transport->site();
    const SweepPlan& plan = prepared.plan;
    if (config_.dry_run && config_.stress > 0) {
      return ListStresses(plan, EstimateStresses(collective_, plan, config_, site), config_);
    }
    if (config_.dry_run) {
      return ResumeNote(prepared) + ListPoints(plan,
                                               EstimatePoints(collective_, plan, config_, site),
                                               config_, prepared.finished);
    }
    return ListAlgorithms(collective_, config_, site) +
           ListTransports(prepared.transport, config_, ranks_, hooks.transports);
  }

  std::string ResumeNote(const Prepared& prepared) const {
    if (!config_.resume) return "";
    if (prepared.complete) {
      return "# Nothing to measure: " + config_.json + " is complete, and stays as it is\n";
    }
    if (!prepared.finished.empty()) return "";
    return "# Nothing to resume: there is no point of an earlier run in " + config_.json +
           " or its journal\n";
  }

  std::string HeadOf(const Prepared& prepared, bool launched) const {
    const TableHead head = {std::string(collective_.name()), prepared.facts.identity.build.version,
                            prepared.facts.environment,      prepared.plan.algorithms,
                            prepared.plan.skipped,           launched};
    return config_.stress > 0 ? FormatStressHead(head, config_.stress) : FormatRunHead(head);
  }

  std::string FootOf(const Prepared& prepared, const SweepResult& result) const {
    if (config_.stress > 0) return FormatStressFoot(result.wrong_words, config_.json);
    return FormatTableFoot({result.points, result.resumed, config_.check, result.wrong_words,
                            prepared.any_wrong, config_.json, prepared.plan.skipped,
                            prepared.plan.points_per_shape});
  }

  void OpenReport(const Prepared& prepared) {
    if (config_.json.empty()) return;
    OnRankZero(ranks_, [&] { journal_ = OpenJournal(prepared.report, prepared.facts); });
    journal_open_ = true;
  }

  SweepResult Measure(Prepared& prepared, Heartbeat& heartbeat) {
    Transport& transport = *prepared.transport.transport;
    transport.executor().OnCalls(
        [&](int calls) { heartbeat.CountCalls(static_cast<std::uint64_t>(calls)); });
    const MeasureContext context = {
        config_, ranks_, transport.executor(), transport.reference(), heartbeat, live_.instance};
    SweepResult result;
    if (config_.stress > 0) {
      result.wrong_words =
          RunStresses(collective_, prepared.plan, transport, context, journal_, live_.findings);
    } else {
      result =
          RunSweep(collective_, prepared.plan, transport, context, prepared.finished, journal_);
    }
    return result;
  }

  ExitCode Report(const Prepared& prepared, const SweepResult& result, Heartbeat& heartbeat) {
    const bool wrong = result.wrong_words > 0 || prepared.any_wrong;
    heartbeat.Enter(Phase::kReport, static_cast<std::uint32_t>(prepared.plan.points.size()));
    ranks_.Barrier();  // a report says that a run has passed only when all ranks got here
    if (journal_) {    // on rank 0
      journal_.reset();
      RunEnding ending;
      ending.status = wrong ? RunStatus::kWrong : RunStatus::kPassed;
      if (wrong) ending.reason = "a result differed from its reference";
      FinishReport(config_.json, ending);
    }
    PrintOnRankZero(FootOf(prepared, result));
    if (std::ferror(stdout) != 0) throw SystemError("the table was not written: standard output");
    return wrong ? ExitCode::kWrong : ExitCode::kPassed;
  }

  Collective& collective_;
  const RunConfig& config_;
  Ranks& ranks_;
  Watchdog& watchdog_;
  std::atomic<bool>& journal_open_;
  LiveParts& live_;
  std::optional<JournalWriter> journal_;
};

}  // namespace

int Run(int argc, char** argv, Collective& collective, const RunHooks& hooks) {
  BlockSignals();
  const LauncherFacts launcher = ReadLauncherEnvironment();
  const ParsedArguments parsed = ParseArguments(argc, argv, collective);
  const bool answers =
      !parsed.error.empty() || parsed.command_line.kind == CommandLine::Kind::kText;
  if (answers && !launcher.launched) return Answer(parsed);

  const RunConfig& config = parsed.command_line.config;
  std::atomic<bool> journal_open{false};
  const auto live = std::make_shared<LiveParts>();  // also held by what is left behind at an end
  Watchdog watchdog(
      {.timeout_seconds = config.timeout_seconds,
       .rank = launcher.rank,
       .callback = [&](const Ending& ending) -> std::string {
         if (!journal_open) return "";
         RunEnding report_ending;
         report_ending.status = ending.status;
         report_ending.reason = ending.reason;
         report_ending.errors = {{ending.rank, ending.reason}};
         FinishReport(config.json, report_ending);
         return WhatIsLeftOf(config);
       },
       .evidence = [live] { return live->instance.Describe(); },
       .amend = [live](Ending& ending) { live->findings.AddTo(ending); },
       .stop_device = [live] { live->Stop(); },
       .namer = [live](Phase phase, std::uint32_t point) { return live->Name(phase, point); }});
  try {
    MpiRanks ranks(&argc, &argv);
    ExitCode code = ExitCode::kPassed;
    try {
      AgreeOnArguments(parsed, ranks);
      if (!answers) {
        Session session(collective, config, ranks, watchdog, journal_open, *live);
        code = session.Run(launcher, hooks);
      } else if (ranks.rank() == 0) {
        Answer(parsed);
      }
    } catch (const SystemError&) {
      throw;                        // the other ranks may not know of it
    } catch (const Error& error) {  // of a vote or of what all ranks know
      if (ranks.rank() == 0) PrintError(error.what());
      code = error.code();
    }
    // What was refused for its arguments had no board. From here on a signal is only how the
    // launcher reacts to the first rank that leaves, and none leaves before all have come to
    // Finalize.
    watchdog.Detach();
    ranks.Finalize();
    watchdog.Stop();
    return AsExit(code);
  } catch (const std::exception& error) {
    watchdog.EndRun(EndingOf(error, launcher.rank));
  }
}

}  // namespace mailbench
