#include "harness/report/screen.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "harness/report/test_terminal.h"

namespace mailbench {
namespace {

namespace fs = std::filesystem;

// A folder as /proc/PID/fd.
class ScreenTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "mailbench-screen-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::create_symlink(terminal_.path(), folder_ / "terminal");
    ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
    fs::create_symlink("/dev/null", folder_ / "null");
    ASSERT_TRUE(FileDescriptor(open((folder_ / "file").c_str(), O_CREAT | O_WRONLY, 0600)).valid());
  }
  void TearDown() override { fs::remove_all(folder_); }

  Screen Find(const std::string& out, const std::string& err, std::string_view term = "xterm") {
    fs::remove(folder_ / "1");
    fs::remove(folder_ / "2");
    fs::create_symlink(folder_ / out, folder_ / "1");
    fs::create_symlink(folder_ / err, folder_ / "2");
    return FindScreen(folder_.string(), term);
  }

  TestTerminal terminal_{100};
  fs::path folder_;
};

TEST_F(ScreenTest, ATerminalThatRowsGoToHasProgressInTheSameStream) {
  const Screen screen = Find("terminal", "terminal");
  EXPECT_TRUE(screen.redraws());
  EXPECT_EQ(screen.fd, STDOUT_FILENO);
  EXPECT_EQ(screen.width(), 100u);
}

TEST_F(ScreenTest, RowsInALogLeaveTheTerminalOfStandardError) {
  for (const char* log : {"file", "pipe", "null", "nothing"}) {
    const Screen screen = Find(log, "terminal");
    EXPECT_TRUE(screen.redraws()) << log;
    EXPECT_EQ(screen.fd, STDERR_FILENO) << log;
  }
}

TEST_F(ScreenTest, WithoutATerminalThereAreLinesOnly) {
  for (const char* log : {"file", "pipe", "null", "nothing"}) {
    const Screen screen = Find(log, log);
    EXPECT_FALSE(screen.redraws()) << log;
    EXPECT_EQ(screen.fd, STDERR_FILENO) << log;
  }
}

TEST_F(ScreenTest, ATerminalThatCannotEraseHasLinesOnly) {
  for (const char* term : {"dumb", ""}) {
    EXPECT_FALSE(Find("terminal", "terminal", term).redraws()) << term;
  }
}

TEST_F(ScreenTest, IsAsWideAsUsualWhereTheTerminalDoesNotSay) {
  terminal_.Resize(0);
  EXPECT_EQ(Find("terminal", "terminal").width(), 80u);
}

}  // namespace
}  // namespace mailbench
