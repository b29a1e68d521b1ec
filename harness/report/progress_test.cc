#include "harness/report/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <string>

#include "harness/report/file.h"

namespace mailbench {
namespace {

// What is there to read now.
std::string Drain(int fd) {
  fcntl(fd, F_SETFL, O_NONBLOCK);
  std::array<char, 4096> text;
  const ssize_t size = read(fd, text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "";
}

TEST(ProgressTest, IsOneLineCutToTheWidth) {
  EXPECT_EQ(FormatProgress(3, 24, "lamport graph 1024 B", std::chrono::seconds(12), 80),
            "[3/24] lamport graph 1024 B, 12 s");
  EXPECT_EQ(FormatProgress(3, 24, "lamport graph 1024 B", std::chrono::seconds(12), 10),
            "[3/24] lam");
}

TEST(ProgressTest, WritesNothingWhereThereIsNoTerminal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const FileDescriptor reader(ends[0]);
  const FileDescriptor writer(ends[1]);
  {
    Progress progress(writer.get(), 2);
    progress.Show(1, "point");
    progress.Erase();
  }
  EXPECT_EQ(Drain(reader.get()), "");
}

TEST(ProgressTest, IsErasedOnATerminal) {
  const FileDescriptor screen(posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_TRUE(screen.valid());
  ASSERT_EQ(grantpt(screen.get()), 0);
  ASSERT_EQ(unlockpt(screen.get()), 0);
  const FileDescriptor terminal(open(ptsname(screen.get()), O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal.valid());
  const winsize size = {24, 9, 0, 0};
  ASSERT_EQ(ioctl(terminal.get(), TIOCSWINSZ, &size), 0);
  {
    Progress progress(terminal.get(), 2);
    progress.Show(1, "point");
    EXPECT_EQ(Drain(screen.get()), "\r\x1b[K[1/2] po");
    progress.Erase();
    EXPECT_EQ(Drain(screen.get()), "\r\x1b[K");
    progress.Erase();
    EXPECT_EQ(Drain(screen.get()), "") << "nothing was shown";
    progress.Show(2, "x");
    Drain(screen.get());
  }
  EXPECT_EQ(Drain(screen.get()), "\r\x1b[K");
}

}  // namespace
}  // namespace mailbench
