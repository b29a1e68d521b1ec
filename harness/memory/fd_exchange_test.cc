// Under mpirun, with 1 to 72 ranks.
#include "harness/memory/fd_exchange.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/error.h"
#include "harness/memory/open_fds.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLong{120'000};
constexpr std::chrono::milliseconds kShort{300};
constexpr std::uint64_t kForged = 0xbad;

// A page of memory that holds one number.
FileDescriptor Memory(std::uint64_t number) {
  FileDescriptor fd(memfd_create("fd_exchange_test", MFD_CLOEXEC));
  EXPECT_EQ(ftruncate(fd.get(), 4096), 0);
  EXPECT_EQ(pwrite(fd.get(), &number, sizeof number, 0), 8);
  return fd;
}

std::uint64_t Read(const FileDescriptor& fd, off_t position) {
  std::uint64_t number = 0;
  EXPECT_EQ(pread(fd.get(), &number, sizeof number, position * 8), 8);
  return number;
}

void ExpectWorks(const FdExchangeHooks& hooks = {}) {
  const FileDescriptor own = Memory(1000 + static_cast<std::uint64_t>(TestRanks().rank()));
  const std::vector<FileDescriptor> fds = ExchangeFds(TestRanks(), own.get(), kLong, hooks);
  ASSERT_EQ(fds.size(), static_cast<std::size_t>(TestRanks().size()));
  for (int peer = 0; peer < TestRanks().size(); ++peer) {
    const FileDescriptor& fd = fds[static_cast<std::size_t>(peer)];
    ASSERT_EQ(fd.valid(), peer != TestRanks().rank()) << peer;
    if (!fd.valid()) continue;
    EXPECT_EQ(Read(fd, 0), 1000u + static_cast<std::uint64_t>(peer));
    EXPECT_NE(fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
    const auto mark = static_cast<std::uint64_t>(TestRanks().rank());
    EXPECT_EQ(pwrite(fd.get(), &mark, sizeof mark, off_t{8} * (1 + TestRanks().rank())), 8);
  }
  TestRanks().Barrier();
  for (int peer = 0; peer < TestRanks().size(); ++peer) {
    if (peer == TestRanks().rank()) continue;
    EXPECT_EQ(Read(own, 1 + peer), static_cast<std::uint64_t>(peer));
  }
  TestRanks().Barrier();
}

// The text of the MachineError that the exchange ends with on this rank.
std::string ErrorOf(std::chrono::milliseconds deadline, const FdExchangeHooks& hooks) {
  const FileDescriptor own = Memory(1);
  try {
    ExchangeFds(TestRanks(), own.get(), deadline, hooks);
  } catch (const MachineError& error) {
    return error.what();
  }
  return "";
}

void ExpectSameOnAllRanks(const std::string& text) {
  for (const std::string& other : TestRanks().Gather(text)) EXPECT_EQ(other, text);
}

TEST(FdExchange, EveryRankGetsEveryOthersMemory) {
  const std::ptrdiff_t before = OpenFds();
  ExpectWorks();
  EXPECT_EQ(OpenFds(), before);
}

TEST(BroadcastFd, EveryOtherRankGetsRankZerosMemory) {
  const std::ptrdiff_t before = OpenFds();
  {
    FileDescriptor own;
    if (TestRanks().rank() == 0) own = Memory(7);
    const FileDescriptor got = BroadcastFd(TestRanks(), own.get(), kLong);
    EXPECT_EQ(got.valid(), TestRanks().rank() != 0);
    if (got.valid()) {
      EXPECT_EQ(Read(got, 0), 7u);
    }
  }
  EXPECT_EQ(OpenFds(), before);
}

TEST(BroadcastFd, RankZeroThatDoesNotSendIsNamedByAll) {
  if (TestRanks().size() == 1 || TestRanks().size() > 8) GTEST_SKIP() << "for 2 to 8 ranks";
  FdExchangeHooks hooks;
  hooks.sends = false;
  const FileDescriptor own = Memory(1);
  std::string text;
  try {
    BroadcastFd(TestRanks(), own.get(), kShort, hooks);
  } catch (const MachineError& error) {
    text = error.what();
  }
  EXPECT_NE(text.find("came from rank 0 within"), std::string::npos) << text;
  ExpectSameOnAllRanks(text);
}

TEST(FdExchange, TheDirectoryIsPrivateAndGoneAtTheEnd) {
  std::string directory;
  FdExchangeHooks hooks;
  hooks.socket_bound = [&](const std::string& path, const FdMessage&) {
    directory = path;
    struct stat facts {};
    ASSERT_EQ(stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0700u);
    EXPECT_EQ(facts.st_uid, geteuid());
  };
  ExpectWorks(hooks);
  ASSERT_FALSE(directory.empty());
  EXPECT_FALSE(std::filesystem::exists(directory));
}

// What someone else might put into this rank's socket, in the name of its successor too.
void SendForgeries(const std::string& directory, const FdMessage& own) {
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string target = FdSocketPath(directory, static_cast<int>(own.rank));
  const FileDescriptor forged = Memory(kForged);
  FdMessage message = own;
  message.rank = (own.rank + 1) % static_cast<std::uint64_t>(TestRanks().size());
  EXPECT_TRUE(SendFd(socket.get(), target, message, forged.get()));
  FdMessage unknown = message;
  unknown.rank = ~std::uint64_t{0};
  EXPECT_TRUE(SendFd(socket.get(), target, unknown, forged.get()));
  FdMessage stale = message;
  stale.nonce ^= 1;
  EXPECT_TRUE(SendFd(socket.get(), target, stale, forged.get()));
}

TEST(FdExchange, RefusesAStrangerAndStillWorks) {
  const std::ptrdiff_t before = OpenFds();
  FdExchangeHooks hooks;
  hooks.socket_bound = [](const std::string& directory, const FdMessage& own) {
    // The right user, the right words, another process.
    const pid_t child = fork();
    if (child == 0) {
      SendForgeries(directory, own);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  };
  ExpectWorks(hooks);
  EXPECT_EQ(OpenFds(), before);
}

TEST(FdExchange, RefusesGarbageFromARankAndStillWorks) {
  const std::ptrdiff_t before = OpenFds();
  FdExchangeHooks hooks;
  hooks.socket_bound = [](const std::string& directory, const FdMessage& own) {
    SendForgeries(directory, own);
    const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const FileDescriptor forged = Memory(kForged);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    FdSocketPath(directory, static_cast<int>(own.rank))
        .copy(address.sun_path, sizeof address.sun_path - 1);
    for (const std::string& text : {std::string(), std::string(3, 'x'), std::string(5000, 'y')}) {
      EXPECT_EQ(sendto(socket.get(), text.data(), text.size(), 0,
                       reinterpret_cast<const sockaddr*>(&address), sizeof address),
                static_cast<ssize_t>(text.size()));
    }
  };
  ExpectWorks(hooks);
  EXPECT_EQ(OpenFds(), before);
}

TEST(FdExchange, ARankThatNeverSendsIsNamedByAll) {
  if (TestRanks().size() == 1) GTEST_SKIP() << "nobody to wait for";
  const std::ptrdiff_t before = OpenFds();
  const int silent = TestRanks().size() - 1;
  std::string directory;
  FdExchangeHooks hooks;
  hooks.sends = TestRanks().rank() != silent;
  hooks.socket_bound = [&](const std::string& path, const FdMessage&) { directory = path; };
  const std::string text = ErrorOf(TestRanks().size() > 8 ? 30 * kShort : kShort, hooks);
  EXPECT_NE(text.find("came from rank " + std::to_string(silent) + " within"), std::string::npos)
      << text;
  ExpectSameOnAllRanks(text);
  EXPECT_EQ(OpenFds(), before);
  EXPECT_FALSE(std::filesystem::exists(directory));
  ExpectWorks();
}

TEST(FdExchange, SaysWhatItRefusedWhenARankIsMissing) {
  if (TestRanks().size() == 1 || TestRanks().size() > 8) GTEST_SKIP() << "for 2 to 8 ranks";
  FdExchangeHooks hooks;
  hooks.sends = TestRanks().rank() != 1;
  hooks.socket_bound = [](const std::string& directory, const FdMessage& own) {
    if (own.rank == 0) SendForgeries(directory, own);
  };
  const std::string text = ErrorOf(kShort, hooks);
  EXPECT_NE(text.find("refused: a datagram that is no message of this exchange, and 2 before"),
            std::string::npos)
      << text;
  ExpectSameOnAllRanks(text);
}

TEST(FdExchange, AFloodHoldsNoRankPastTheDeadline) {
  if (TestRanks().size() == 1 || TestRanks().size() > 8) GTEST_SKIP() << "for 2 to 8 ranks";
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const FileDescriptor forged = Memory(kForged);
  const std::ptrdiff_t before = OpenFds();
  std::string target;
  FdExchangeHooks hooks;
  hooks.sends = TestRanks().rank() != 1;
  hooks.refused = [&] { SendFd(socket.get(), target, {.nonce = 1}, forged.get()); };
  hooks.socket_bound = [&](const std::string& directory, const FdMessage& own) {
    target = FdSocketPath(directory, static_cast<int>(own.rank));
    if (own.rank == 0) hooks.refused();
  };
  const std::string text = ErrorOf(kShort, hooks);
  EXPECT_NE(text.find("refused: a datagram that is no message"), std::string::npos) << text;
  ExpectSameOnAllRanks(text);
  EXPECT_EQ(OpenFds(), before);
}

TEST(FdExchange, NoDirectoryIsTheSameErrorOnAllRanks) {
  const std::ptrdiff_t before = OpenFds();
  FdExchangeHooks hooks;
  hooks.parent = "/nonexistent";
  const std::string text = ErrorOf(kLong, hooks);
  EXPECT_NE(text.find("private directory in /nonexistent: No such file"), std::string::npos)
      << text;
  ExpectSameOnAllRanks(text);
  EXPECT_EQ(OpenFds(), before);
}

TEST(FdExchange, ASocketThatCannotBeBoundIsTheSameErrorOnAllRanks) {
  const std::ptrdiff_t before = OpenFds();
  const int last = TestRanks().size() - 1;
  std::string directory;
  FdExchangeHooks hooks;
  hooks.directory_made = [&](const std::string& path) {
    directory = path;
    std::ofstream(FdSocketPath(path, last)) << "in the way";
  };
  const std::string text = ErrorOf(kLong, hooks);
  EXPECT_NE(text.find("rank" + std::to_string(last) + ": Address already in use"),
            std::string::npos)
      << text;
  ExpectSameOnAllRanks(text);
  EXPECT_EQ(OpenFds(), before);
  if (TestRanks().rank() == 0) {
    EXPECT_FALSE(std::filesystem::exists(directory));
  }
  ExpectWorks();
}

TEST(FdExchange, AProcessThatMayOpenNoMoreFilesSaysSo) {
  if (TestRanks().size() < 2 || TestRanks().size() > 8) GTEST_SKIP() << "for 2 to 8 ranks";
  const std::ptrdiff_t before = OpenFds();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit usual = limit;
  FdExchangeHooks hooks;
  hooks.socket_bound = [&](const std::string&, const FdMessage& own) {
    if (own.rank != 1) return;
    // The lowest number that is free becomes the first that is forbidden.
    const FileDescriptor next(dup(0));
    limit.rlim_cur = static_cast<rlim_t>(next.get());
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  };
  const std::string text = ErrorOf(kShort, hooks);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_NE(text.find("may open no more files"), std::string::npos) << text;
  EXPECT_EQ(text.find("rank 1: "), 0u) << text;
  ExpectSameOnAllRanks(text);
  EXPECT_EQ(OpenFds(), before);
}

}  // namespace
}  // namespace mailbench
