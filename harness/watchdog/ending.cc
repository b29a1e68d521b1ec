#include "harness/watchdog/ending.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "harness/watchdog/run_within.h"

namespace mailbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPoll{2};
constexpr std::chrono::milliseconds kFollowerPatience{kFollowerPatienceMs};
constexpr std::chrono::milliseconds kAnnounceAfter{kAnnounceAfterMs};
// Twice what a claimer takes: it may find itself waiting for a processor.
constexpr std::chrono::milliseconds kEvidenceIsOver{2 * kEvidenceLimitMs};

// Straight to the file descriptor, one line at once: the main thread may hold stdio's lock, and
// lines of several ranks do not mix.
void PrintLine(const std::string& text) {
  const std::string line = "mailbench: " + text + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = write(STDERR_FILENO, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return;
    }
    written += static_cast<std::size_t>(count);
  }
}

[[noreturn]] void Leave(ExitCode code) {
  // What the main thread has printed of the table so far, unless it is printing just now.
  if (ftrylockfile(stdout) == 0) {
    std::fflush(stdout);
    funlockfile(stdout);
  }
  _exit(static_cast<int>(code));
}

// The one line that says why the run ends, for whichever thread comes first.
class Announcement {
 public:
  explicit Announcement(std::string text) : text_(std::move(text)) {}
  void Say() {
    if (!said_.exchange(true)) {
      PrintLine(text_);
    }
  }
  // Says `more` with the announcement, or after it when that has been said.
  void SayWith(const std::string& more) {
    PrintLine(said_.exchange(true) ? more : text_ + "\n" + more);
  }

 private:
  const std::string text_;
  std::atomic<bool> said_{false};
};

// Ends the process when the callback or a pipe does not come back, and says the announcement before
// the launcher, whose other ranks have left by then, kills this one. `announcement` may be empty.
void StartLimit(std::shared_ptr<Announcement> announcement, ExitCode code) {
  try {
    std::thread([announcement = std::move(announcement), code] {
      std::this_thread::sleep_for(kAnnounceAfter);
      if (announcement) {
        announcement->Say();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kEndingLimitMs) - kAnnounceAfter);
      PrintLine("gave up on ending the run in order after " +
                std::to_string(kEndingLimitMs / 1000) + " s");
      _exit(static_cast<int>(code));
    }).detach();
  } catch (const std::system_error&) {
    PrintLine("no thread to limit the time that ending the run takes");
  }
}

// What this process has under way on a device.
class DeviceWork {
 public:
  explicit DeviceWork(StopDeviceCallback stop) : stop_(std::move(stop)) {}
  // Once: later calls do nothing.
  void Stop() {
    if (stop_) {
      RunWithin(std::chrono::milliseconds(kStopDeviceLimitMs), std::exchange(stop_, nullptr));
    }
  }

 private:
  StopDeviceCallback stop_;  // empty once it was called
};

// Adds the evidence to the reason of a run that hung. A rank that takes the place of a claimer
// which had said its ending finds the evidence there, and the devices no longer as they were.
void AddEvidence(const EndingContext& context, Ending& ending) {
  if (ending.status != RunStatus::kHung || !context.evidence ||
      (context.board && SaidCode(*context.board))) {
    return;
  }
  const auto lines = std::make_shared<std::string>();
  if (RunWithin(std::chrono::milliseconds(kEvidenceLimitMs),
                [lines, evidence = context.evidence] { *lines = evidence(); }) &&
      !lines->empty()) {
    ending.reason += "\n" + *lines;
  }
}

// Returns the ending to carry out once this rank holds the claim; leaves when another carries it
// out.
Ending ClaimOrFollow(const BoardView& board, std::optional<Ending> ending, DeviceWork& device) {
  const auto began = Clock::now();
  bool ready = false;  // to leave
  const ExitCode own_code = ending ? ending->code : ExitCode::kHung;
  for (;;) {
    const ClaimResult result = TryClaim(board);
    if (result.dead_rank) {
      const std::string said = SaidReason(board);
      return {.code = ExitCode::kHung,
              .status = RunStatus::kHung,
              .reason = "rank " + std::to_string(*result.dead_rank) +
                        " died while it ended the run" + (said.empty() ? "" : ": " + said),
              .rank = result.dead_rank};
    }
    if (result.claimed) {
      return ending.value_or(Ending{});
    }
    if (!ready && (SaidCode(board) || Clock::now() > began + kEvidenceIsOver)) {
      device.Stop();
      MarkReadyToLeave(board);
      ready = true;
      continue;  // the claimer may have died meanwhile
    }
    if ((HasEnded(board) && AllReadyToLeave(board)) || Clock::now() > began + kFollowerPatience) {
      const ExitCode code = SaidCode(board).value_or(own_code);
      StartLimit(nullptr, code);
      Leave(code);
    }
    std::this_thread::sleep_for(kPoll);
  }
}

// Before there is a board: whether this is the first of the processes that one launcher started
// here to speak. The name lives in the kernel, and goes with the process.
bool IsFirstToSpeak() {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return true;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Begins with a zero byte: an abstract name, unix(7).
  const std::string name = "mailbench." + std::to_string(getppid()) + ".ending";
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0 || errno != EADDRINUSE;
}

// For the claimer, which has taken the time since `began` to end the run.
void AwaitFollowers(const BoardView& board, Clock::time_point began) {
  while (!AllReadyToLeave(board) && Clock::now() < began + kFollowerPatience) {
    std::this_thread::sleep_for(kPoll);
  }
}

// Returns what to add to the announcement: what the callback said, or why it failed.
std::string WriteReport(const EndCallback& callback, const Ending& ending) {
  try {
    return callback ? callback(ending) : "";
  } catch (const std::exception& error) {
    return std::string("the report of the run that ends here was not written: ") + error.what();
  } catch (...) {
    return "the report of the run that ends here was not written";
  }
}

}  // namespace

void EndProcess(const EndingContext& context, std::optional<Ending> ending) {
  DeviceWork device(context.stop_device);
  Ending chosen = context.board ? ClaimOrFollow(*context.board, std::move(ending), device)
                                : std::move(ending).value_or(Ending{});
  const auto began = Clock::now();
  AddEvidence(context, chosen);
  // What a claimer that has died had said is complete.
  if (context.amend && !(context.board && SaidCode(*context.board))) context.amend(chosen);
  if (context.board) {
    SayEnding(*context.board, chosen.code, chosen.reason);
  }
  std::shared_ptr<Announcement> announcement;
  if (context.board || IsFirstToSpeak()) {
    announcement =
        std::make_shared<Announcement>(std::string(ToString(chosen.status)) + ": " + chosen.reason);
  }
  StartLimit(announcement, chosen.code);
  device.Stop();
  if (context.board) {
    MarkReadyToLeave(*context.board);
  }
  const std::string more = WriteReport(context.callback, chosen);
  if (announcement && more.empty()) {
    announcement->Say();
  } else if (announcement) {
    announcement->SayWith(more);
  }
  if (context.board) {
    MarkEnded(*context.board);
    AwaitFollowers(*context.board, began);
  } else if (announcement) {
    std::this_thread::sleep_for(kAnnounceAfter);  // holds the word until the others have left
  }
  Leave(chosen.code);
}

}  // namespace mailbench
