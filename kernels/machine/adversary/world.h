// A world of ranks in one process, whose every interleaving somebody else decides: threads are
// fibers, and a store is a word on its way until a strategy lets it land. kernels/PROTOCOLS.md,
// "The adversary", states the rules one by one.
//
// A world is built once (memory, launches, what is expected) and then run again and again, each
// time from the beginning, by another schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/machine/adversary/fabric.h"
#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/adversary/strategy.h"
#include "kernels/machine/host/fiber.h"
#include "kernels/machine/host/grid.h"
#include "kernels/machine/host/stack_pool.h"
#include "kernels/machine/pack.h"

namespace mailbench {

class World;

// What a kernel's thread reaches the world through.
class AdversaryThread {
 public:
  int thread_index() const { return index_; }
  int cta_index() const;
  const GridDims& dims() const;
  void* shared() const;  // the CTA's shared memory, zeroed when the CTA starts
  int rank() const { return writer_.rank; }
  const Writer& writer() const { return writer_; }
  World& world() const { return *world_; }

  // Before each operation on memory that others see: lets whatever the strategy chooses happen
  // first.
  void Step();
  void CtaBarrier();
  void DependencyWait();
  void LaunchDependents();
  // Sleeps until the site's word has changed.
  void PollAgain(const PollSite& site);
  // Whether there is a trace.
  bool traced() const;
  // Adds to the trace, when there is one.
  void Note(const std::string& text) const;

 private:
  friend class World;
  // kMayStart: first of a CTA for which there is a place, if the strategy lets it run.
  enum class State { kMayStart, kReady, kPolling, kBarrier, kDependency, kReturned };
  void Wait(State state);

  World* world_ = nullptr;
  std::size_t launch_ = 0;
  int cta_ = 0;
  int index_ = 0;
  State state_ = State::kReturned;
  PollSite site_{};
  Writer writer_;
  Fiber fiber_;  // done until the thread first runs
};

struct Event {
  std::uint64_t step;
  int rank;  // whose thread moved, or on which the word landed
  std::string text;
};

// How the text of the event ends with which a launch has completed.
inline constexpr const char* kCompleted = " has completed";
// And with which a CTA has become resident, where there is a limit.
inline constexpr const char* kTakesPlace = " takes a place";

struct ScheduleResult {
  std::optional<Violation> violation;
  std::uint64_t steps = 0;
  bool given_up = false;  // World::goes_on said so; no violation then
};

// Not thread-safe: one a processor.
class World {
 public:
  using Kernel = std::function<void(AdversaryThread&)>;
  // Names word `index` of a memory: "generation 1, slot of rank 0, pack 2, word 3".
  using Describe = std::function<std::string(std::size_t index)>;

  static constexpr std::uint32_t kUnwritten = 0xdeadbeef;  // by the kernels

  World(int ranks, const WorldRules& rules);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int ranks() const { return ranks_; }
  Fabric& fabric() { return fabric_; }

  // One address for the mailboxes of all ranks, by rank; only multimem operations may use it.
  MulticastPack* AddMulticast(std::vector<Pack*> mailboxes);
  const std::vector<Pack*>& mailboxes(const MulticastPack* address) const;
  // A result, compared when everything has ended. `words` are private to the rank; each schedule
  // begins with kUnwritten in them.
  void Expect(int rank, std::string name, std::uint32_t* words, std::vector<std::uint32_t> values);
  // How many more launches than a peer a rank may have completed. Without it there is no limit.
  void LimitLead(std::uint64_t launches) { most_lead_ = launches; }
  // Launches of one rank and stream follow each other.
  void AddLaunch(int rank, int stream, std::string name, const GridDims& dims,
                 std::size_t shared_bytes, Kernel kernel);

  // Asked once in some thousand steps, counted over all schedules, when set. False gives the
  // schedule up.
  std::function<bool()> goes_on;

  // Runs one schedule from the beginning. `trace`, where given, gets all that happens. Throws
  // std::logic_error when a kernel breaks the rules of the machine itself.
  ScheduleResult Run(Strategy& strategy, std::vector<Event>* trace = nullptr);

 private:
  friend class AdversaryThread;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::uint64_t kMostSteps = 1'000'000;
  static constexpr std::uint64_t kStepsBetweenQuestions = 4096;

  struct Launch {
    int rank = 0;
    std::string name;
    GridDims dims;
    std::size_t shared_words = 0;
    Kernel kernel;
    std::size_t predecessor = kNone;
    std::size_t first_thread = 0;  // into threads_
    // Of the schedule that runs.
    int started = 0;    // CTAs
    int triggered = 0;  // CTAs that permit the dependent, or have ended
    int ended = 0;      // CTAs
    bool completed = false;
    bool offered = false;  // the first thread of the next CTA is among the ready ones
  };
  struct Cta {
    int live = 0;
    int at_barrier = 0;
    bool triggered = false;
    std::vector<std::uint64_t> shared;
  };
  struct Expectation {
    int rank;
    std::string name;
    std::uint32_t* words;
    std::vector<std::uint32_t> values;
  };

  void Reset();
  Cta& CtaOf(const AdversaryThread& thread);
  bool MayStart(const Launch& launch) const;
  void StartCtas();
  void Offer(Launch& launch);
  void TakePlace(AdversaryThread& first);
  void StartCta(std::size_t launch, int cta);
  int& ResidentBeside(const Launch& launch);
  // Moves words as long as the strategy says so; returns the thread that it lets run, or null when
  // nothing can move any more, or when the schedule has failed.
  AdversaryThread* Decide();
  bool GivesUp();
  void Resume(AdversaryThread& thread);
  void ReleaseBarrier(std::size_t launch, int cta);
  void Trigger(Launch& launch, Cta& cta);
  void Returned(AdversaryThread& thread);
  void Changed(const std::uint32_t* word);
  void MakeReady(AdversaryThread& thread);
  void Abandon();
  void Finish();
  void Found(Property property, std::string text);
  std::string DescribeDeadlock() const;
  std::string PolledPlace() const;

  void CheckLead(int rank);

  int ranks_;
  WorldRules rules_;
  std::optional<std::uint64_t> most_lead_;
  Fabric fabric_;
  std::vector<Launch> launches_;
  std::vector<std::pair<int, int>> streams_;  // by launch: its rank and stream
  std::vector<std::vector<Cta>> ctas_;        // by launch
  StackPool stacks_;                          // outlives the threads
  std::deque<AdversaryThread> threads_;
  std::vector<Expectation> expectations_;
  std::vector<std::pair<std::unique_ptr<std::byte[]>, std::vector<Pack*>>> multicasts_;
  std::uint64_t steps_since_question_ = 0;

  // The schedule that runs.
  Strategy* strategy_ = nullptr;
  bool given_up_ = false;
  std::string lead_;  // the first that was too large, in words
  std::vector<Event>* trace_ = nullptr;
  std::uint64_t steps_ = 0;
  std::vector<std::uint32_t> ready_;      // numbers of threads, the one that ran last first
  std::size_t polling_ = 0;               // threads
  std::vector<std::uint64_t> completed_;  // launches, by rank
  std::vector<int> resident_;             // CTAs, by rank; with a shared GPU all in [0]
  bool may_start_ = false;                // something has changed that may let CTAs start
  AdversaryThread* next_ = nullptr;       // chosen by a thread that gave way
};

inline bool AdversaryThread::traced() const { return world_->trace_ != nullptr; }

}  // namespace mailbench
