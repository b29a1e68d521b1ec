#include "harness/memory/fd_exchange.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <sstream>
#include <utility>

#include "harness/memory/private_directory.h"
#include "harness/ranks/rank_list.h"
#include "harness/ranks/vote_on.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

using Clock = std::chrono::steady_clock;

// How soon to look again whether a peer's full queue has room: nothing wakes a sender for that.
constexpr std::chrono::milliseconds kRetry{1};

struct Process {
  pid_t pid = 0;
  ino_t pid_namespace = 0;  // 0: unknown
};

// What all ranks know before they talk over sockets.
struct Setting {
  std::string directory;
  std::uint64_t nonce = 0;
  std::vector<Process> processes;  // by rank
};

std::uint64_t RandomNonce() {
  std::uint64_t nonce = 0;
  if (getrandom(&nonce, sizeof nonce, 0) != static_cast<ssize_t>(sizeof nonce)) {
    throw SystemError("cannot get random bytes: " + ErrnoText(errno));
  }
  return nonce;
}

Process OwnProcess() {
  struct stat name_space {};
  const bool known = stat("/proc/self/ns/pid", &name_space) == 0;
  return {.pid = getpid(), .pid_namespace = known ? name_space.st_ino : 0};
}

// Collective. `directory` and `nonce` count on rank 0.
Setting Agree(const Ranks& ranks, const std::string& directory, std::uint64_t nonce) {
  const Process own = OwnProcess();
  std::ostringstream line;
  line << own.pid << ' ' << own.pid_namespace << ' ' << nonce << ' ' << directory;
  Setting setting;
  for (const std::string& text : ranks.Gather(line.str())) {
    std::istringstream in(text);
    Process process;
    std::uint64_t its_nonce = 0;
    in >> process.pid >> process.pid_namespace >> its_nonce;
    if (setting.processes.empty()) {
      setting.nonce = its_nonce;
      std::getline(in >> std::ws, setting.directory);
    }
    setting.processes.push_back(process);
  }
  return setting;
}

enum class Senders { kAll, kRankZero };

// One rank's part once its socket is bound. Communicates by sockets only.
class Swap {
 public:
  Swap(const Setting& setting, Senders senders, const FdMessage& own, int socket, int fd,
       const FdExchangeHooks& hooks)
      : setting_(setting),
        senders_(senders),
        own_(own),
        socket_(socket),
        fd_(fd),
        hooks_(hooks),
        got_(setting.processes.size()) {
    if (!hooks_.sends || !Sends(own_.rank)) return;
    // From the successor on, so that not all ranks begin with rank 0.
    const auto size = static_cast<int>(got_.size());
    for (int step = size - 1; step > 0; --step) to_send_.push_back((OwnRank() + step) % size);
  }

  std::vector<FileDescriptor> Run(std::chrono::milliseconds limit) {
    const Clock::time_point deadline = Clock::now() + limit;
    while (true) {
      SendMore();
      std::optional<ReceivedFds> received = ReceiveFds(socket_);
      const bool more_may_wait = received.has_value();
      if (received) Take(std::move(*received));
      const std::vector<int> missing = Missing();
      if (missing.empty() && to_send_.empty()) return std::move(got_);
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) throw SystemError(Late(missing, limit));
      // Not before the look at the clock: somebody may send without end.
      if (more_may_wait) continue;
      pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
      poll(&waiting, 1,
           static_cast<int>((to_send_.empty() ? left : std::min(left, kRetry)).count()));
    }
  }

 private:
  bool Sends(std::size_t rank) const { return senders_ == Senders::kAll || rank == 0; }
  int OwnRank() const { return static_cast<int>(own_.rank); }

  void SendMore() {
    std::erase_if(to_send_, [&](int rank) {
      return SendFd(socket_, FdSocketPath(setting_.directory, rank), own_, fd_);
    });
  }

  // Why this datagram is none of the exchange's; "" when it is.
  std::string Refusal(const ReceivedFds& received) const {
    const FdMessage& message = received.message;
    if (message.magic != kFdMessageMagic || message.nonce != setting_.nonce) {
      return "a datagram that is no message of this exchange";
    }
    if (message.rank >= got_.size() || message.rank == own_.rank || !Sends(message.rank)) {
      return "a message of a rank that has nothing to send";
    }
    const std::string name = "a message in the name of rank " + std::to_string(message.rank);
    if (!received.sender || received.sender->uid != getuid()) return name + " by another user";
    const Process& claimed = setting_.processes[message.rank];
    const Process& own = setting_.processes[own_.rank];
    if (claimed.pid_namespace != 0 && claimed.pid_namespace == own.pid_namespace &&
        claimed.pid != received.sender->pid) {
      return name + " by process " + std::to_string(received.sender->pid);
    }
    if (received.fds.size() != 1) {
      return name + " with " + std::to_string(received.fds.size()) + " descriptors" +
             (received.control_lost ? " (this process may open no more files)" : "");
    }
    if (got_[message.rank].valid()) {
      return "a second message of rank " + std::to_string(message.rank);
    }
    return "";
  }

  void Take(ReceivedFds received) {
    const std::string refusal = Refusal(received);
    if (refusal.empty()) {
      got_[received.message.rank] = std::move(received.fds.front());
    } else {
      ++refused_;
      last_refusal_ = refusal;
      if (hooks_.refused) hooks_.refused();
    }
  }

  std::vector<int> Missing() const {
    std::vector<int> missing;
    for (std::size_t rank = 0; rank < got_.size(); ++rank) {
      if (rank != own_.rank && Sends(rank) && !got_[rank].valid()) {
        missing.push_back(static_cast<int>(rank));
      }
    }
    return missing;
  }

  std::string Late(const std::vector<int>& missing, std::chrono::milliseconds limit) const {
    std::string text = missing.empty() ? "could not send its file descriptor to all ranks"
                                       : "no file descriptor came from " + RankList(missing);
    text += " within " + std::to_string(limit.count()) + " ms";
    if (refused_ > 0) {
      text += " (refused: " + last_refusal_ +
              (refused_ > 1 ? ", and " + std::to_string(refused_ - 1) + " before" : "") + ")";
    }
    return text;
  }

  const Setting& setting_;
  const Senders senders_;
  const FdMessage own_;
  const int socket_;
  const int fd_;
  const FdExchangeHooks& hooks_;
  std::vector<FileDescriptor> got_;  // by rank
  std::vector<int> to_send_;         // ranks that have not been sent to yet
  int refused_ = 0;
  std::string last_refusal_;
};

// Collective: what came, by rank.
std::vector<FileDescriptor> Exchange(const Ranks& ranks, Senders senders, int fd,
                                     std::chrono::milliseconds deadline,
                                     const FdExchangeHooks& hooks) {
  if (!ranks.one_host()) {
    throw MachineError("file descriptors cannot be sent between ranks on several hosts");
  }
  const Step step("the exchange of file descriptors");
  PrivateDirectory directory;  // of rank 0
  std::uint64_t nonce = 0;
  VoteOn(ranks, ExitCode::kMachine, [&] {
    if (ranks.rank() != 0) return;
    nonce = RandomNonce();
    directory = PrivateDirectory(hooks.parent);
    if (hooks.directory_made) hooks.directory_made(directory.path());
  });
  const Setting setting = Agree(ranks, directory.path(), nonce);
  const FdMessage own{.nonce = setting.nonce, .rank = static_cast<std::uint64_t>(ranks.rank())};
  FileDescriptor socket;
  VoteOn(ranks, ExitCode::kMachine, [&] {
    socket = BindDatagramSocket(FdSocketPath(setting.directory, ranks.rank()));
    if (hooks.socket_bound) hooks.socket_bound(setting.directory, own);
  });
  std::vector<FileDescriptor> fds;
  VoteOn(ranks, ExitCode::kMachine,
         [&] { fds = Swap(setting, senders, own, socket.get(), fd, hooks).Run(deadline); });
  return fds;
}

}  // namespace

std::string FdSocketPath(const std::string& directory, int rank) {
  return directory + "/rank" + std::to_string(rank);
}

std::vector<FileDescriptor> ExchangeFds(const Ranks& ranks, int fd,
                                        std::chrono::milliseconds deadline,
                                        const FdExchangeHooks& hooks) {
  return Exchange(ranks, Senders::kAll, fd, deadline, hooks);
}

FileDescriptor BroadcastFd(const Ranks& ranks, int fd, std::chrono::milliseconds deadline,
                           const FdExchangeHooks& hooks) {
  return std::move(Exchange(ranks, Senders::kRankZero, fd, deadline, hooks).front());
}

}  // namespace mailbench
