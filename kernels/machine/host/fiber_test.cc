#include "kernels/machine/host/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace mailbench {
namespace {

TEST(Fiber, RunsInPiecesAndSaysWhenItIsDone) {
  StackPool stacks;
  Fiber fiber;
  EXPECT_TRUE(fiber.done());
  std::string order;
  fiber.Start(stacks, [&] {
    order += "a";
    fiber.Suspend();
    order += "b";
    fiber.Suspend();
    order += "c";
  });
  EXPECT_FALSE(fiber.done());
  EXPECT_EQ(order, "");
  for (const char* const seen : {"a", "a-b", "a-b-c"}) {
    EXPECT_FALSE(fiber.done());
    fiber.Resume();
    EXPECT_EQ(order, seen);
    order += "-";
  }
  EXPECT_TRUE(fiber.done());
}

TEST(Fiber, StartsAgainWhenItIsDone) {
  StackPool stacks;
  Fiber fiber;
  int runs = 0;
  for (int i = 0; i < 100; ++i) {
    fiber.Start(stacks, [&] {
      fiber.Suspend();
      ++runs;
    });
    fiber.Resume();
    fiber.Resume();
    ASSERT_TRUE(fiber.done());
  }
  EXPECT_EQ(runs, 100);
}

// Every switch between two fibers goes by way of whoever resumes them, each with its own locals.
TEST(Fiber, TakesTurnsWithOthers) {
  StackPool stacks;
  std::vector<Fiber> fibers(50);
  std::vector<int> turns;
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    fibers[i].Start(stacks, [&, i] {
      for (int turn = 0; turn < 3; ++turn) {
        turns.push_back(static_cast<int>(i) + 100 * turn);
        fibers[i].Suspend();
      }
    });
  }
  for (int turn = 0; turn < 4; ++turn) {
    for (Fiber& fiber : fibers) fiber.Resume();
  }
  std::vector<int> expected;
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 50; ++i) expected.push_back(i + 100 * turn);
  }
  EXPECT_EQ(turns, expected);
  for (const Fiber& fiber : fibers) EXPECT_TRUE(fiber.done());
}

TEST(Fiber, ResumesAnotherFromInside) {
  StackPool stacks;
  Fiber outer;
  Fiber inner;
  std::string order;
  inner.Start(stacks, [&] {
    order += "i";
    inner.Suspend();
    order += "j";
  });
  outer.Start(stacks, [&] {
    order += "o";
    inner.Resume();
    order += "p";
    outer.Suspend();
    inner.Resume();
    order += "q";
  });
  outer.Resume();
  EXPECT_EQ(order, "oip");
  outer.Resume();
  EXPECT_EQ(order, "oipjq");
  EXPECT_TRUE(inner.done() && outer.done());
}

TEST(Fiber, CarriesAnExceptionToWhoeverResumesIt) {
  StackPool stacks;
  Fiber fiber;
  fiber.Start(stacks, [&] {
    fiber.Suspend();
    throw std::out_of_range("planted");
  });
  EXPECT_NO_THROW(fiber.Resume());
  try {
    fiber.Resume();
    FAIL() << "returned";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "planted");
  }
  EXPECT_TRUE(fiber.done());
  fiber.Start(stacks, [] {});
  EXPECT_NO_THROW(fiber.Resume());
}

// Whether what the function and its frames hold is let go, wherever the fiber stands.
TEST(Fiber, LeavesItsFramesWhenItIsDestroyedHalfWay) {
  StackPool stacks;
  const auto held = std::make_shared<int>(0);
  bool went_on = false;
  {
    Fiber begun;
    Fiber not_begun;
    begun.Start(stacks, [&] {
      const std::shared_ptr<int> local = held;
      begun.Suspend();
      went_on = true;
    });
    not_begun.Start(stacks, [&, captured = held] { went_on = captured != nullptr; });
    begun.Resume();
    EXPECT_EQ(held.use_count(), 3);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(went_on);
}

TEST(Fiber, IsUnwoundWhileAnotherExceptionIsOnItsWay) {
  StackPool stacks;
  const auto held = std::make_shared<int>(0);
  EXPECT_THROW(
      {
        Fiber fiber;
        fiber.Start(stacks, [&] {
          const std::shared_ptr<int> local = held;
          fiber.Suspend();
        });
        fiber.Resume();
        throw std::out_of_range("planted");
      },
      std::out_of_range);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Fiber, DropsWhatAFunctionThrowsWhileItIsUnwound) {
  StackPool stacks;
  Fiber fiber;
  int suspended_again = 0;
  fiber.Start(stacks, [&] {
    try {
      fiber.Suspend();
    } catch (...) {
      ++suspended_again;
    }
    fiber.Suspend();  // does not return
    ++suspended_again;
  });
  fiber.Resume();
  fiber.Unwind();
  EXPECT_TRUE(fiber.done());
  EXPECT_EQ(suspended_again, 1);

  fiber.Start(stacks, [&] {
    try {
      fiber.Suspend();
    } catch (...) {
    }
    throw std::out_of_range("planted");
  });
  fiber.Resume();
  fiber.Unwind();
  EXPECT_TRUE(fiber.done());

  fiber.Start(stacks, [&] { fiber.Suspend(); });  // and is as good as new
  EXPECT_NO_THROW(fiber.Resume());
  EXPECT_FALSE(fiber.done());
  EXPECT_NO_THROW(fiber.Resume());
  EXPECT_TRUE(fiber.done());
}

TEST(Fiber, GivesItsStackBack) {
  StackPool stacks;
  std::set<const void*> places;
  Fiber fiber;
  for (int i = 0; i < 30; ++i) {
    fiber.Start(stacks, [&] {
      const int local = 0;
      places.insert(&local);
      fiber.Suspend();
      if (i % 3 == 1) throw std::out_of_range("planted");
    });
    fiber.Resume();
    if (i % 3 == 0) fiber.Resume();
    if (i % 3 == 1) {
      EXPECT_THROW(fiber.Resume(), std::out_of_range);
    }
    if (i % 3 == 2) fiber.Unwind();
  }
  EXPECT_EQ(places.size(), 1u);
}

}  // namespace
}  // namespace mailbench
