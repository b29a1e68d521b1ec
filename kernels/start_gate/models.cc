#include "kernels/start_gate/models.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "kernels/machine/adversary/world.h"
#include "kernels/start_gate/protocol.h"

namespace mailbench {
namespace {

// Streams of a rank. Hosts are threads of the world, too.
constexpr int kWaits = 0;
constexpr int kMeets = 1;
constexpr int kReleases = 2;

void AwaitCount(AdversaryMachine& m, const std::uint32_t* counter, std::uint32_t least) {
  for (std::uint32_t seen = 0; (seen = m.load_volatile_u32(counter)) < least;) {
    m.poll_again({counter, seen, least, 0, 0});
  }
}

class GateWorld : public ModelWorld {
 public:
  GateWorld(const Scenario& scenario, const WorldRules& rules, const GateThreads& threads)
      : world_(scenario.ranks, rules),
        threads_(threads),
        generations_(static_cast<std::uint32_t>(scenario.sizes.size())),
        met_(AddCounter(0, "count of ranks that have met")),
        released_(AddCounter(0, "count of releases")),
        opened_(static_cast<std::size_t>(scenario.ranks),
                std::vector<std::uint32_t>(scenario.sizes.size())) {
    gate_.ranks = scenario.ranks;
    for (int rank = 0; rank < scenario.ranks; ++rank) {
      gate_.latches[rank] = AddLatch(rank);
      passed_.push_back(AddCounter(rank, "count of generations that it has passed"));
    }
    for (std::uint32_t generation = 1; generation <= generations_; ++generation) {
      for (int rank = 0; rank < scenario.ranks; ++rank) AddWait(rank, generation);
      AddRelease(generation, scenario.threads);
    }
    for (int rank = 0; rank < scenario.ranks; ++rank) Expect(rank);
  }

  World& world() override { return world_; }

 private:
  std::uint32_t* AddCounter(int rank, std::string name) {
    Fabric::Memory memory;
    memory.rank = rank;
    memory.name = std::move(name);
    return world_.fabric().Add(std::move(memory), 1);
  }

  Latch* AddLatch(int rank) {
    Fabric::Memory memory;
    memory.rank = rank;
    memory.name = "latch";
    memory.describe = [](std::size_t word) {
      return "word " + std::to_string(word % kPackWords);  // wherever the latch begins
    };
    std::size_t bytes = 2 * sizeof(Latch);  // a latch on a line of its own lies somewhere in it
    void* place = world_.fabric().Add(std::move(memory), bytes / sizeof(std::uint32_t));
    return static_cast<Latch*>(std::align(alignof(Latch), sizeof(Latch), place, bytes));
  }

  void AddWait(int rank, std::uint32_t generation) {
    const auto index = static_cast<std::size_t>(rank);
    std::uint32_t* passed = passed_[index];
    std::uint32_t* opened = &opened_[index][generation - 1];
    const std::string number = std::to_string(generation);
    world_.AddLaunch(
        rank, kWaits, "wait for generation " + number, {1, 1}, 0,
        [this, own = gate_.latches[rank], passed, opened, generation](AdversaryThread& self) {
          AdversaryMachine m(self);
          threads_.await(m, own, generation);
          *opened = m.load_volatile_u32(released_);
          m.atomic_add_relaxed_gpu(passed, 1);
        });
    world_.AddLaunch(rank, kMeets, "host's meeting " + number, {1, 1}, 0,
                     [this, passed, generation](AdversaryThread& self) {
                       AdversaryMachine m(self);
                       AwaitCount(m, passed, generation - 1);
                       m.atomic_add_relaxed_gpu(met_, 1);
                     });
  }

  void AddRelease(std::uint32_t generation, int threads) {
    world_.AddLaunch(0, kReleases, "release of generation " + std::to_string(generation),
                     {1, threads}, 0, [this, generation](AdversaryThread& self) {
                       AdversaryMachine m(self);
                       if (m.thread_index() == 0) {
                         const auto ranks = static_cast<std::uint32_t>(gate_.ranks);
                         if (threads_.meets) AwaitCount(m, met_, generation * ranks);
                         m.atomic_add_relaxed_gpu(released_, 1);
                       }
                       m.cta_barrier();  // the kernel is launched when the ranks have met
                       threads_.release(m, gate_, generation);
                     });
  }

  void Expect(int rank) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t generation = 1; generation <= generations_; ++generation) {
      expected.push_back(generation);
    }
    world_.Expect(rank, "newest release at its passings",
                  opened_[static_cast<std::size_t>(rank)].data(), std::move(expected));
  }

  World world_;
  GateThreads threads_;
  std::uint32_t generations_;
  StartGateView gate_;
  std::uint32_t* met_;                              // how often a rank has come to a meeting
  std::uint32_t* released_;                         // generations whose release has begun
  std::vector<std::uint32_t*> passed_;              // generations, by rank
  std::vector<std::vector<std::uint32_t>> opened_;  // released_ when a rank passed: [rank][passing]
};

}  // namespace

Model GateModel(std::string name, std::string summary, const GateThreads& threads) {
  Model model;
  model.name = std::move(name);
  model.summary = std::move(summary);
  model.make = [threads](const Scenario& scenario, const WorldRules& rules) {
    return std::make_unique<GateWorld>(scenario, rules, threads);
  };
  model.gathers = false;
  return model;
}

std::vector<Model> StartGateModels() {
  return {GateModel("start-gate",
                    "ranks wait until rank 0 releases them; each of --sizes is a generation",
                    {&AwaitRelease<AdversaryMachine>, &Release<AdversaryMachine>})};
}

}  // namespace mailbench
