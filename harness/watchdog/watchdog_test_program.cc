// A run in miniature with a fault placed in it, for watchdog_test.py: ranks that loop over barriers
// with heartbeats. Each run of the callback appends one line to --report.
//   --report FILE --marks FILE --timeout S --fault F --rank R --at CALL --calls N --sleep-ms M
//   --callback C --evidence E --stop-device S
// --marks gets a line "WHAT TIME PID RANK" at the start ("start"), after the first call ("ready"),
// just before the fault ("fault"), when the evidence has been taken ("evidence") and when the
// device is stopped ("stopped").
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "harness/ranks/launcher.h"
#include "harness/ranks/mpi_ranks.h"
#include "harness/watchdog/run_board.h"
#include "harness/watchdog/signals.h"
#include "harness/watchdog/step.h"
#include "harness/watchdog/watchdog.h"

namespace mailbench {
namespace {

struct Options {
  std::map<std::string, std::string> values = {
      {"report", ""},        {"marks", ""},        {"timeout", "5"},         {"fault", "none"},
      {"rank", "0"},         {"at", "17"},         {"calls", "40"},          {"sleep-ms", "2"},
      {"callback", "write"}, {"evidence", "give"}, {"stop-device", "return"}};
  const std::string& operator[](const char* name) const { return values.at(name); }
  int Number(const char* name) const { return std::stoi(values.at(name)); }
};

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    options.values.at(std::string(argv[i]).substr(2)) = argv[i + 1];
  }
  return options;
}

void SleepMs(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

[[noreturn]] void SleepForever() {
  for (;;) {
    SleepMs(1000);
  }
}

// One write: lines of several ranks do not mix.
void AppendLine(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string line = text + "\n";
  if (file < 0 || write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::perror(path.c_str());
  }
  close(file);
}

void Mark(const Options& options, const std::string& what) {
  if (!options["marks"].empty()) {
    AppendLine(options["marks"], what + " " + std::to_string(MonotonicNow()) + " " +
                                     std::to_string(getpid()) + " " +
                                     std::to_string(ReadLauncherEnvironment().rank));
  }
}

std::string Evidence(const Options& options) {
  SleepMs(20);  // so that a rank which does not wait for it shows
  Mark(options, "evidence");
  const std::string& how = options["evidence"];
  if (how == "throw") {
    throw std::runtime_error("the mailbox is gone");
  }
  if (how == "hang") {
    SleepForever();
  }
  return "slot 3 is empty\nslot 5 is empty";
}

void StopDevice(const Options& options) {
  const std::string& how = options["stop-device"];
  if (how == "slow") {
    // The last of 4 ranks, which sees the death of rank 0 first, is done first.
    SleepMs(60 * std::max(0, 3 - ReadLauncherEnvironment().rank));
  }
  Mark(options, "stopped");
  if (how == "throw") {
    throw std::runtime_error("the device is gone");
  }
  if (how == "hang") {
    SleepForever();
  }
}

void WriteReport(const Options& options, const Ending& ending) {
  const std::string& how = options["callback"];
  if (how == "throw") {
    throw std::runtime_error("the disk is full");
  }
  if (how == "hang") {
    SleepForever();
  }
  if (how == "die-once") {
    const std::string path = options["report"] + ".died";
    if (open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644) >= 0) {
      raise(SIGKILL);
    }
  }
  std::string reason = ending.reason;
  for (char& c : reason) {
    c = c == '\n' ? '|' : c;
  }
  AppendLine(options["report"], std::to_string(MonotonicNow()) + " " +
                                    std::to_string(static_cast<int>(ending.code)) + " " +
                                    ToString(ending.status) + " " + reason);
}

void Fault(const Options& options) {
  const std::string& fault = options["fault"];
  Mark(options, "fault");
  if (fault == "kill") {
    raise(SIGKILL);
  } else if (fault == "abort") {
    std::abort();
  } else if (fault == "stop") {
    raise(SIGSTOP);
  } else if (fault == "never") {
    SleepForever();
  } else if (fault == "late") {
    SleepMs(3000);
  } else if (fault == "throw") {
    throw SystemError("the disk is full");
  }
}

int Run(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  const LauncherFacts launcher = ReadLauncherEnvironment();
  const bool chosen = options.Number("rank") == launcher.rank;
  const std::string& at = options["at"];
  Mark(options, "start");
  Watchdog watchdog({.timeout_seconds = std::stod(options["timeout"]),
                     .rank = launcher.rank,
                     .callback =
                         [&](const Ending& ending) {
                           WriteReport(options, ending);
                           return std::string();
                         },
                     .evidence = [&] { return Evidence(options); },
                     .stop_device = [&] { StopDevice(options); }});
  MpiRanks ranks(&argc, &argv);
  if (chosen && at == "init") {
    Fault(options);
  }
  RunBoard board(ranks);
  watchdog.Attach(board.view());
  Heartbeat heartbeat(board.slot(), [&](const HeartbeatState& state) {
    if (chosen &&
        (state.phase == Phase::kSetUp ? at == "setup"
                                      : state.phase == Phase::kReport && at == "report")) {
      Fault(options);
    }
  });
  ranks.OnMeeting([&] { heartbeat.CountMeeting(); });
  try {
    heartbeat.Enter(Phase::kSetUp, 0);
    if (chosen && at == "step") {
      const Step outer("the choice of a transport");
      const Step step("cuMulticastBindMem");
      Fault(options);
    }
    ranks.Barrier();
    const int calls = options.Number("calls");
    for (int call = 1; call <= calls; ++call) {
      if (call % 5 == 1) {
        heartbeat.Enter(Phase::kCheck, static_cast<std::uint32_t>(call / 5));
      }
      if (chosen && at == std::to_string(call)) {
        Fault(options);
      }
      heartbeat.CountCall();
      ranks.Barrier();
      if (call == 1) {
        // Into a file of this rank, since a launcher drops what it has not yet passed on.
        const std::string file = options["marks"] + ".stdout." + std::to_string(ranks.rank());
        if (std::freopen(file.c_str(), "w", stdout) == nullptr) throw SystemError(file);
        std::printf("not a whole line;");  // waits in stdio's buffer
        Mark(options, "ready");
      }
      SleepMs(options.Number("sleep-ms"));
    }
    heartbeat.Enter(Phase::kReport, 0);
  } catch (const Error& error) {
    watchdog.EndRun({error.code(), RunStatus::kFailed,
                     "rank " + std::to_string(ranks.rank()) + ": " + error.what()});
  }
  heartbeat.Enter(Phase::kFinished, 0);
  ranks.Barrier();
  if (at == "finished" && chosen) {
    kill(getpid(), SIGTERM);  // not raise: the main thread never takes it
    SleepMs(200);
  }
  ranks.Barrier();
  watchdog.Detach();
  ranks.OnMeeting(nullptr);
  board.Free();
  ranks.Finalize();
  watchdog.Stop();
  return 0;
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  mailbench::BlockSignals();
  try {
    return mailbench::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
