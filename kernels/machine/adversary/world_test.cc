// What a world does with kernels, one rule at a time.
#include "kernels/machine/adversary/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/machine/adversary/adversary_machine.h"
#include "kernels/machine/hex.h"

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kUnset = 0;

// A world with a word of memory a rank, and a log that kernels write.
class WorldTest : public testing::Test {
 protected:
  World& Make(const WorldRules& rules = {}, int ranks = 1) {
    world_ = std::make_unique<World>(ranks, rules);
    words_.clear();
    for (int rank = 0; rank < ranks; ++rank) {
      Fabric::Memory memory;
      memory.rank = rank;
      memory.name = "memory";
      memory.initial = kUnset;
      words_.push_back(world_->fabric().Add(std::move(memory), 4));
    }
    return *world_;
  }
  // A launch of `ctas` CTAs of one thread that logs when it runs.
  void Launch(const std::string& name, int ctas, World::Kernel kernel, int rank = 0,
              int threads = 1, int stream = 0) {
    world_->AddLaunch(rank, stream, name, {ctas, threads}, 8,
                      [this, name, kernel](AdversaryThread& thread) {
                        thread.Step();
                        Log(name + std::to_string(thread.cta_index()));
                        kernel(thread);
                      });
  }
  // Without delays: words land at once, threads run until they wait.
  ScheduleResult Run(std::vector<std::uint64_t> delays = {}, std::vector<Event>* trace = nullptr) {
    log_.clear();
    Delayed strategy(std::move(delays));
    strategy.Begin(0);
    return world_->Run(strategy, trace);
  }
  void Log(std::string text) { log_.push_back(std::move(text)); }
  static std::string TextOf(const ScheduleResult& result, Property property) {
    if (!result.violation) return "nothing";
    return result.violation->property == property ? result.violation->text
                                                  : ToString(result.violation->property);
  }

  std::unique_ptr<World> world_;
  std::vector<std::uint32_t*> words_;  // by rank: four words
  std::vector<std::string> log_;
};

void Nothing(AdversaryThread& /*thread*/) {}

void PollFor(AdversaryThread& thread, const std::uint32_t* word) {
  AdversaryMachine m(thread);
  while (m.load_volatile_u32(word) == kUnset) m.poll_again({.word = word, .seen = kUnset});
}

TEST_F(WorldTest, APollingThreadSleepsUntilItsWordLands) {
  Make({}, 2);
  Launch("polls", 1, [this](AdversaryThread& thread) {
    PollFor(thread, words_[0]);
    Log("has seen it");
  });
  Launch(
      "stores", 1,
      [this](AdversaryThread& thread) {
        AdversaryMachine(thread).store_relaxed_sys_v4(reinterpret_cast<Pack*>(words_[0]),
                                                      {{1, 2, 3, 4}});
        Log("has stored it");
      },
      1);
  const ScheduleResult result = Run();
  EXPECT_FALSE(result.violation);
  EXPECT_THAT(log_, ElementsAre("polls0", "stores0", "has stored it", "has seen it"));
  EXPECT_LT(result.steps, 20u);  // it does not spin
}

TEST_F(WorldTest, ADeadlockNamesWhoWaitsForWhat) {
  Make();
  Launch(
      "call 0", 1,
      [this](AdversaryThread& thread) {
        thread.LaunchDependents();
        if (thread.thread_index() == 0) PollFor(thread, words_[0] + 2);
        AdversaryMachine(thread).cta_barrier();
      },
      0, 2);
  Launch("call 1", 1, [](AdversaryThread& thread) { thread.DependencyWait(); });
  Launch("call 2", 3, Nothing);
  EXPECT_EQ(TextOf(Run(), Property::kDeadlock),
            "rank 0, call 0, CTA 0, thread 0 polls rank 0's memory, word 2; "
            "rank 0, call 0, CTA 0, thread 1 waits at a barrier; "
            "rank 0, call 1, CTA 0, thread 0 waits for the grid before; "
            "rank 0, call 2 has started 0 of 3 CTAs");
}

TEST_F(WorldTest, AWrongResultIsNamed) {
  World& world = Make();
  std::uint32_t result[2] = {};
  Launch("call 0", 1, [&](AdversaryThread&) { result[0] = 5; });
  world.Expect(0, "output", result, {5, 6});
  EXPECT_EQ(TextOf(Run(), Property::kOutput),
            "rank 0's output, word 1: expected 0x00000006, seen " + Hex(World::kUnwritten));
}

TEST_F(WorldTest, AResultOfTheScheduleBeforeDoesNotCount) {
  World& world = Make();
  std::uint32_t result = 0;
  bool stores = true;
  Launch("call 0", 1, [&](AdversaryThread&) {
    if (stores) result = 5;
  });
  world.Expect(0, "output", &result, {5});
  EXPECT_FALSE(Run().violation);
  stores = false;
  EXPECT_THAT(TextOf(Run(), Property::kOutput), HasSubstr("expected 0x00000005"));
}

class ProgrammaticLaunch : public WorldTest {
 protected:
  void MakeTwo(bool programmatic, bool triggers) {
    Make({.programmatic_launch = programmatic});
    Launch("first", 2, [this, triggers](AdversaryThread& thread) {
      if (triggers) thread.LaunchDependents();
      thread.Step();
      Log("ends");
    });
    Launch("second", 1, [this](AdversaryThread& thread) {
      thread.DependencyWait();
      Log("has waited");
    });
  }
};

TEST_F(ProgrammaticLaunch, StartsTheDependentWhenAllCtasHaveTriggered) {
  MakeTwo(true, true);
  // Both CTAs of the first are put off right after they have triggered.
  bool early = false;
  for (std::uint64_t a = 0; a < 8; ++a) {
    for (std::uint64_t b = a + 1; b < 8; ++b) {
      EXPECT_FALSE(Run({a, b}).violation);
      const auto at = [&](const std::string& text) {
        return std::find(log_.begin(), log_.end(), text) - log_.begin();
      };
      early = early || at("second0") < at("ends");
      EXPECT_LT(std::max(at("first0"), at("first1")), at("second0"));
      EXPECT_EQ(log_.back(), "has waited");  // whatever the order
    }
  }
  EXPECT_TRUE(early);
}

TEST_F(ProgrammaticLaunch, ACtaThatEndsPermitsTheDependentToo) {
  MakeTwo(true, false);
  EXPECT_FALSE(Run().violation);
  EXPECT_THAT(log_, ElementsAre("first0", "ends", "first1", "ends", "second0", "has waited"));
}

TEST_F(ProgrammaticLaunch, SwitchedOffStartsAfterCompletionOnly) {
  MakeTwo(false, true);
  for (std::uint64_t delay = 0; delay < 8; ++delay) {
    EXPECT_FALSE(Run({delay}).violation);
    EXPECT_EQ(std::count(log_.begin(), log_.begin() + 4, "ends"), 2);
  }
}

TEST_F(WorldTest, TheWaitSeesPlainStoresAndSaysNothingOfMulticastCopies) {
  World& world = Make();
  auto* pack = reinterpret_cast<Pack*>(words_[0]);
  Fabric::Memory memory;
  memory.name = "copies";
  auto* copies = reinterpret_cast<Pack*>(world.fabric().Add(std::move(memory), kPackWords));
  MulticastPack* multicast = world.AddMulticast({copies});
  Launch("first", 1, [=](AdversaryThread& thread) {
    AdversaryMachine m(thread);
    m.multimem_store_relaxed_sys_v4_f32(multicast, 0, {{9, 9, 9, 9}});
    m.store_v4(pack, {{1, 2, 3, 4}});
  });
  std::uint32_t seen[2] = {};
  Launch("second", 1, [&, pack, copies](AdversaryThread& thread) {
    AdversaryMachine m(thread);
    m.grid_dependency_wait();
    seen[0] = m.load_volatile_u32(&pack->word[3]);
    seen[1] = m.load_volatile_u32(copies->word);
  });
  const std::unique_ptr<Strategy> biased = MakeBiased(1);
  bool late = false;
  for (std::uint64_t number = 0; number < 50; ++number) {
    biased->Begin(number);
    EXPECT_FALSE(world.Run(*biased).violation);
    EXPECT_EQ(seen[0], 4u);
    late = late || seen[1] == 0;
  }
  EXPECT_TRUE(late);
}

TEST_F(WorldTest, ResidencyLimitsCtasOfARank) {
  for (const int limit : {1, 2}) {
    Make({.resident_ctas = limit});
    Launch("call 0", 2, [this](AdversaryThread& thread) {
      AdversaryMachine m(thread);
      if (thread.cta_index() == 1) m.atomic_add_relaxed_gpu(words_[0], 1);
      if (thread.cta_index() == 0) PollFor(thread, words_[0]);
    });
    const std::string found = TextOf(Run(), Property::kDeadlock);
    if (limit == 2) {
      EXPECT_EQ(found, "nothing");
    } else {
      EXPECT_THAT(found, HasSubstr("rank 0, call 0 has started 1 of 2 CTAs"));
    }
  }
}

TEST_F(WorldTest, RanksWithASharedGpuTakeEachOthersPlaces) {
  for (const bool shared : {false, true}) {
    Make({.resident_ctas = 1, .shared_gpu = shared}, 2);
    Launch("call 0", 1, [this](AdversaryThread& thread) { PollFor(thread, words_[0]); });
    Launch(
        "call 0", 1,
        [this](AdversaryThread& thread) {
          AdversaryMachine(thread).atomic_add_relaxed_gpu(words_[0], 1);
        },
        1);
    EXPECT_EQ(Run().violation.has_value(), shared);
  }
}

TEST_F(WorldTest, LaunchesOfTwoStreamsDoNotFollowEachOther) {
  Make();
  Launch("polls", 1, [this](AdversaryThread& thread) { PollFor(thread, words_[0]); });
  Launch(
      "adds", 1,
      [this](AdversaryThread& thread) {
        AdversaryMachine(thread).atomic_add_relaxed_gpu(words_[0], 1);
      },
      0, 1, 1);
  EXPECT_FALSE(Run().violation);
}

TEST_F(WorldTest, ABarrierDoesNotWaitForThreadsThatHaveReturned) {
  Make();
  Launch(
      "call 0", 1,
      [](AdversaryThread& thread) {
        if (thread.thread_index() != 1) AdversaryMachine(thread).cta_barrier();
      },
      0, 3);
  for (std::uint64_t delay = 0; delay < 8; ++delay) EXPECT_FALSE(Run({delay}).violation);
}

TEST_F(WorldTest, SharedMemoryIsZeroedWhenACtaStarts) {
  Make();
  Launch("call 0", 2, [](AdversaryThread& thread) {
    auto* shared = static_cast<std::uint32_t*>(thread.shared());
    EXPECT_EQ(*shared, 0u);
    *shared = 1;
  });
  EXPECT_FALSE(Run().violation);
  EXPECT_FALSE(Run().violation);
}

TEST_F(WorldTest, AKernelWithoutEndIsFound) {
  Make();
  Launch("call 0", 1, [](AdversaryThread& thread) {
    while (true) thread.Step();
  });
  EXPECT_THAT(TextOf(Run(), Property::kEndless), HasSubstr("no end after"));
}

TEST_F(WorldTest, GivesAScheduleUpWhenAsked) {
  World& world = Make();
  bool endless = true;
  Launch("call 0", 1, [&](AdversaryThread& thread) {
    while (endless) thread.Step();
  });
  int questions = 0;
  world.goes_on = [&] { return ++questions < 3; };
  const ScheduleResult result = Run();
  EXPECT_TRUE(result.given_up);
  EXPECT_FALSE(result.violation);
  EXPECT_EQ(questions, 3);
  endless = false;
  EXPECT_FALSE(Run().given_up);
}

TEST_F(WorldTest, ALeadBeyondTheLimitIsFoundWhenNothingElseIs) {
  for (const std::uint64_t limit : {1u, 2u}) {
    World& world = Make({}, 2);
    world.LimitLead(limit);
    Launch("call 0", 1, [](AdversaryThread&) {});
    Launch("call 1", 1, [&](AdversaryThread& thread) {
      AdversaryMachine(thread).store_relaxed_sys_v4(reinterpret_cast<Pack*>(words_[1]),
                                                    {{1, 1, 1, 1}});
    });
    Launch(
        "late", 1, [&](AdversaryThread& thread) { PollFor(thread, words_[1]); }, 1);
    EXPECT_EQ(
        TextOf(Run(), Property::kSlack),
        limit == 1 ? "rank 0 has completed 2 launches when rank 1 has completed 0" : "nothing");
  }
  World& world = Make({}, 2);
  world.LimitLead(0);
  Launch("call 0", 1, [](AdversaryThread&) {});
  std::uint32_t result = 0;
  world.Expect(0, "output", &result, {1});
  EXPECT_THAT(TextOf(Run(), Property::kOutput), HasSubstr("expected 0x00000001"));
}

TEST_F(WorldTest, AnExceptionOfAKernelComesOutAndTheWorldLivesOn) {
  Make();
  bool throws = true;
  Launch("call 0", 2, [&](AdversaryThread& thread) {
    thread.Step();
    if (throws && thread.cta_index() == 1) throw std::logic_error("broken kernel");
    if (throws) PollFor(thread, words_[0]);
  });
  EXPECT_THROW(Run(), std::logic_error);
  throws = false;
  EXPECT_FALSE(Run().violation);
}

TEST_F(WorldTest, IsAsNewAfterAViolation) {
  Make();
  int objects = 0;
  bool stores = false;
  Launch("call 0", 1, [&](AdversaryThread& thread) {
    const std::shared_ptr<int> leaves(&++objects, [](int* count) { --*count; });
    if (stores) AdversaryMachine(thread).atomic_add_relaxed_gpu(words_[0], 1);
    PollFor(thread, words_[0]);
  });
  const ScheduleResult first = Run();
  EXPECT_EQ(TextOf(first, Property::kDeadlock), TextOf(Run(), Property::kDeadlock));
  EXPECT_EQ(first.steps, Run().steps);
  EXPECT_EQ(objects, 0);  // abandoned threads have left their kernels
  stores = true;
  EXPECT_FALSE(Run().violation);
}

TEST_F(WorldTest, OneScheduleHasOneTrace) {
  World& world = Make({}, 2);
  for (int rank = 0; rank < 2; ++rank) {
    Launch(
        "call 0", 2,
        [this, rank](AdversaryThread& thread) {
          AdversaryMachine m(thread);
          thread.Note("stores");
          m.store_relaxed_sys_v4(reinterpret_cast<Pack*>(words_[1 - rank]), {{1, 1, 1, 1}});
          PollFor(thread, words_[rank] + 3);
        },
        rank);
  }
  const auto trace_of = [&](std::uint64_t number) {
    const std::unique_ptr<Strategy> biased = MakeBiased(3);
    biased->Begin(number);
    std::vector<Event> trace;
    EXPECT_FALSE(world.Run(*biased, &trace).violation);
    std::string text;
    for (const Event& event : trace) {
      text += std::to_string(event.step) + " " + std::to_string(event.rank) + " " + event.text;
    }
    return text;
  };
  for (std::uint64_t number = 0; number < 20; ++number) {
    const std::string trace = trace_of(number);
    EXPECT_EQ(trace_of(number), trace);
    EXPECT_THAT(trace, HasSubstr("call 0, CTA 1, thread 0: stores"));
    EXPECT_THAT(trace, HasSubstr("0x00000001 of rank 0 lands in rank 1's memory, word 3"));
  }
  EXPECT_NE(trace_of(0), trace_of(1));
}

TEST_F(WorldTest, AMulticastStoreToAnythingElseIsRefused) {
  Make();
  Launch("call 0", 1, [this](AdversaryThread& thread) {
    AdversaryMachine(thread).multimem_store_relaxed_sys_v4_f32(
        reinterpret_cast<MulticastPack*>(words_[0]), 0, {});
  });
  EXPECT_THROW(Run(), std::logic_error);
}

}  // namespace
}  // namespace mailbench
