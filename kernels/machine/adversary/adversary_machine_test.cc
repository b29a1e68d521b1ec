// What the machine tells of a kernel's operations.
#include "kernels/machine/adversary/adversary_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mailbench {
namespace {

using testing::HasSubstr;

constexpr Pack kPayload = {{1, 2, 3, 4}};
constexpr const char* kWords = "0x00000001 0x00000002 0x00000003 0x00000004";

// One rank, with a mailbox of two packs that may be reached by multicast.
class AdversaryMachineTest : public testing::Test {
 protected:
  AdversaryMachineTest() {
    Fabric::Memory memory;
    memory.name = "mailbox";
    mailbox_ = reinterpret_cast<Pack*>(
        world_.fabric().Add(std::move(memory), std::size_t{2} * kPackWords));
    multicast_ = world_.AddMulticast({mailbox_});
  }
  // All that happens while the kernel runs, a line each.
  std::string TraceOf(World::Kernel kernel) {
    world_.AddLaunch(0, 0, "call 0", {1, 1}, 0, std::move(kernel));
    Delayed undelayed({});
    std::vector<Event> trace;
    EXPECT_FALSE(world_.Run(undelayed, &trace).violation);
    std::string text;
    for (const Event& event : trace) text += event.text + "\n";
    return text;
  }

  // What is found when the kernel runs.
  std::optional<Violation> ViolationOf(World::Kernel kernel) {
    world_.AddLaunch(0, 0, "call 0", {1, 1}, 0, std::move(kernel));
    Delayed undelayed({});
    return world_.Run(undelayed).violation;
  }

  World world_{1, {}};
  Pack* mailbox_ = nullptr;
  MulticastPack* multicast_ = nullptr;
};

TEST_F(AdversaryMachineTest, NotesEveryWayToPublish) {
  EXPECT_THAT(TraceOf([&](AdversaryThread& thread) {
                AdversaryMachine(thread).store_relaxed_sys_v4(mailbox_, kPayload);
              }),
              HasSubstr(std::string("thread 0: publishes ") + kWords + " to rank 0's mailbox\n"));
}

TEST_F(AdversaryMachineTest, NotesMulticastStores) {
  EXPECT_THAT(TraceOf([&](AdversaryThread& thread) {
                AdversaryMachine(thread).multimem_store_relaxed_sys_v4_f32(multicast_, 1, kPayload);
              }),
              HasSubstr(std::string("thread 0: publishes ") + kWords + " to rank 0's mailbox\n"));
}

TEST_F(AdversaryMachineTest, NotesWeakMulticastStores) {
  EXPECT_THAT(
      TraceOf([&](AdversaryThread& thread) {
        AdversaryMachine(thread).multimem_store_weak_v4_f32(multicast_, 1, kPayload);
      }),
      HasSubstr(std::string("thread 0: publishes, weakly, ") + kWords + " to rank 0's mailbox\n"));
}

TEST_F(AdversaryMachineTest, EveryAccessOutsideTheWorldIsFound) {
  Pack outside{};
  const std::vector<std::function<void(AdversaryMachine&)>> accesses = {
      [&](AdversaryMachine& m) { static_cast<void>(m.load_v4(&outside)); },
      [&](AdversaryMachine& m) { static_cast<void>(m.load_volatile_v4(mailbox_ + 2)); },
      [&](AdversaryMachine& m) { static_cast<void>(m.load_volatile_u32(mailbox_[2].word)); },
      [&](AdversaryMachine& m) { m.store_v4(&outside, kPayload); },
      [&](AdversaryMachine& m) { m.store_u32(outside.word, 1); },
      [&](AdversaryMachine& m) { m.store_relaxed_sys_v4(mailbox_ - 1, kPayload); },
      [&](AdversaryMachine& m) { m.multimem_store_relaxed_sys_v4_f32(multicast_, 2, kPayload); },
      [&](AdversaryMachine& m) { m.multimem_store_weak_v4_f32(multicast_, 2, kPayload); },
      [&](AdversaryMachine& m) { m.atomic_add_acq_rel_gpu(outside.word, 1); },
      [&](AdversaryMachine& m) { m.atomic_add_relaxed_gpu(outside.word, 1); },
      // A poll of such a word ends, too.
      [&](AdversaryMachine& m) {
        static_cast<void>(m.load_volatile_u32(mailbox_[2].word));
        m.poll_again({mailbox_[2].word, 0, 0, 0, 0});
      },
  };
  std::size_t next = 0;
  const World::Kernel kernel = [&](AdversaryThread& thread) {
    AdversaryMachine m(thread);
    accesses[next](m);
  };
  world_.AddLaunch(0, 0, "call 0", {1, 1}, 0, kernel);
  for (; next < accesses.size(); ++next) {
    Delayed undelayed({});
    const std::optional<Violation> violation = world_.Run(undelayed).violation;
    ASSERT_TRUE(violation) << next;
    EXPECT_EQ(violation->property, Property::kStray) << next;
  }
}

TEST_F(AdversaryMachineTest, PrivateMemoryIsTheRanksOwn) {
  Pack input{};
  world_.fabric().AddPrivate(0, input.word, kPackWords);
  EXPECT_FALSE(ViolationOf([&](AdversaryThread& thread) {
    AdversaryMachine m(thread);
    m.store_v4(&input, m.load_v4(&input));
  }));
}

}  // namespace
}  // namespace mailbench
