#include "harness/watchdog/current_instance.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace mailbench {
namespace {

TEST(CurrentInstanceTest, SaysWhatTheInstanceSaysWhileItIsShown) {
  CurrentInstance current;
  EXPECT_EQ(current.Describe(), "");
  {
    const CurrentInstance::Scope scope(&current, [] { return "waits for slot 3"; });
    EXPECT_EQ(current.Describe(), "waits for slot 3");
  }
  EXPECT_EQ(current.Describe(), "");
  const CurrentInstance::Scope scope(&current, [] { return "waits for slot 4"; });
  EXPECT_EQ(current.Describe(), "waits for slot 4");
}

TEST(CurrentInstanceTest, ADescriberThatThrowsLeavesItUsable) {
  CurrentInstance current;
  {
    const CurrentInstance::Scope scope(&current,
                                       []() -> std::string { throw std::runtime_error("no"); });
    EXPECT_THROW(current.Describe(), std::runtime_error);
  }
  EXPECT_EQ(current.Describe(), "");
}

TEST(CurrentInstanceTest, TheScopeEndsOnlyAfterADescribeThatIsUnderWay) {
  CurrentInstance current;
  std::promise<void> entered;
  std::promise<void> let_go;
  std::atomic<bool> described{false};
  std::atomic<bool> ended{false};
  std::optional<CurrentInstance::Scope> scope;
  scope.emplace(&current, [&] {
    entered.set_value();
    let_go.get_future().wait();
    EXPECT_FALSE(ended.load());
    described = true;
    return "done";
  });
  std::thread describer([&] { EXPECT_EQ(current.Describe(), "done"); });
  entered.get_future().wait();
  std::thread main_thread([&] {
    scope.reset();
    EXPECT_TRUE(described.load());
    ended = true;
  });
  // Time for a destructor that does not wait to be caught; one that waits passes however long.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  let_go.set_value();
  describer.join();
  main_thread.join();
  EXPECT_EQ(current.Describe(), "");
}

// Under ThreadSanitizer or AddressSanitizer this finds an instance that is looked at when gone.
TEST(CurrentInstanceTest, InstancesComeAndGoUnderManyLooks) {
  CurrentInstance current;
  std::atomic<bool> stop{false};
  std::thread looks([&] {
    while (!stop) {
      const std::string text = current.Describe();
      EXPECT_TRUE(text.empty() || text == "alive") << text;
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const auto instance = std::make_unique<std::string>("alive");
    const CurrentInstance::Scope scope(&current, [&] { return *instance; });
  }
  stop = true;
  looks.join();
}

}  // namespace
}  // namespace mailbench
