// Where a rank is, for its peers' eyes: one struct a rank in shared memory, written by its owner
// only and read by every rank's watchdog.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "harness/watchdog/step.h"

namespace mailbench {

// What a rank is doing. In the order in which a run passes through them; kCheck to kAudit repeat
// for each point, kStress for each algorithm.
enum class Phase : std::uint32_t {
  kStart,
  kSetUp,
  kCheck,
  kWarmUp,
  kMeasure,
  kAudit,
  kStress,
  kTearDown,
  kReport,
  kFinished,  // the rank leaves of its own will: no longer watched
};
const char* ToString(Phase phase);  // "set-up"

struct HeartbeatState {
  Phase phase = Phase::kStart;
  // Index of the point in the sweep, or of the algorithm that is stressed, from 0; never goes back.
  std::uint32_t point = 0;
  std::uint64_t calls = 0;     // calls of the collective entered since the start of the run
  std::uint64_t meetings = 0;  // times that it has come to where the harness waits for all ranks
  std::int64_t since_ns = 0;   // CLOCK_MONOTONIC when any of the above last changed
  std::uint32_t at_once = 1;   // how many of the calls were entered last, as one: see CountCalls
  std::string step;            // see Step; "" for none
  std::string name = {};       // of the point or algorithm, filled in by readers that know it
};

// CLOCK_MONOTONIC, nanoseconds: one clock for all processes of a host.
std::int64_t MonotonicNow();

constexpr std::size_t kStepWords = 6;
constexpr std::size_t kStepBytes = kStepWords * sizeof(std::uint64_t);  // the last one is '\0'

// The slot in shared memory. A line of its own: two writers never share one.
struct alignas(128) HeartbeatSlot {
  std::atomic<std::uint64_t> phase_and_point;  // phase in the upper half
  std::atomic<std::uint64_t> calls;            // HeartbeatState::at_once in the upper 20 bits
  std::atomic<std::uint64_t> meetings;
  std::atomic<std::int64_t> since_ns;
  std::atomic<std::uint64_t> pid_namespace;   // in which `pid` counts
  std::atomic<std::int32_t> pid;              // 0 until the rank has arrived
  std::atomic<std::uint32_t> ready_to_leave;  // 1 when the run ends and nothing is left to do
  std::array<std::atomic<std::uint64_t>, kStepWords> step;  // HeartbeatState::step, '\0' to the end
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::int32_t>::is_always_lock_free);
static_assert(sizeof(HeartbeatSlot) == 128);

// What a peer may believe: phase, point, calls and meetings are each a value that the owner
// published, and since_ns is never older than the newest of them, so that a rank that moves never
// looks silent. The step may be torn while it changes, which that of a silent rank does not.
HeartbeatState Read(const HeartbeatSlot& slot);

// A rank's own writer. Cheap enough to call on every call of a collective: a clock and a few
// stores.
class Heartbeat final : private StepObserver {
 public:
  // Called after each change, by the thread that made it. Tests place faults with it. Must not
  // throw when a step changes.
  using Observer = std::function<void(const HeartbeatState&)>;

  // Publishes kStart, and from then on the steps of this thread. The slot outlives the writer.
  // REQUIRES: one writer a slot, one thread; the last that a thread makes shows its steps.
  explicit Heartbeat(HeartbeatSlot* slot, Observer observer = nullptr);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void Enter(Phase phase, std::uint32_t point);
  // REQUIRES: called before the call of the collective is entered.
  void CountCall() { CountCalls(1); }
  // For calls that the host enters as one, since a GPU makes them one by one without it: a replay
  // of a graph. REQUIRES: as CountCall; 1 <= calls < 2^20, and less than 2^44 in all of a run.
  void CountCalls(std::uint64_t calls);
  void CountMeeting();  // REQUIRES: called before the rank waits for the others

  const HeartbeatState& state() const { return state_; }
  // For this process's other threads: see Read.
  const HeartbeatSlot& slot() const { return *slot_; }

 private:
  void OnStep(const char* name) override;
  void Publish();
  void PublishStep();
  void Tell() const;

  HeartbeatSlot* slot_;
  Observer observer_;
  HeartbeatState state_;
};

}  // namespace mailbench
