#include "harness/watchdog/heartbeat.h"

#include <array>
#include <cstring>
#include <ctime>
#include <utility>

namespace mailbench {
namespace {

constexpr int kPhaseShift = 32;

std::uint64_t Pack(Phase phase, std::uint32_t point) {
  return std::uint64_t{static_cast<std::uint32_t>(phase)} << kPhaseShift | point;
}

// One word: no reader may see a number of calls with another one's `at_once`.
constexpr int kAtOnceShift = 44;
constexpr std::uint64_t kCallsMask = (std::uint64_t{1} << kAtOnceShift) - 1;

std::uint64_t PackCalls(const HeartbeatState& state) {
  return std::uint64_t{state.at_once} << kAtOnceShift | state.calls;
}

}  // namespace

const char* ToString(Phase phase) {
  switch (phase) {
    case Phase::kStart:
      return "start";
    case Phase::kSetUp:
      return "set-up";
    case Phase::kCheck:
      return "check";
    case Phase::kWarmUp:
      return "warm-up";
    case Phase::kMeasure:
      return "measure";
    case Phase::kAudit:
      return "audit";
    case Phase::kStress:
      return "stress";
    case Phase::kTearDown:
      return "teardown";
    case Phase::kReport:
      return "report";
    case Phase::kFinished:
      return "finished";
  }
  return "unknown";
}

std::int64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

HeartbeatState Read(const HeartbeatSlot& slot) {
  HeartbeatState state;
  const std::uint64_t packed = slot.phase_and_point.load(std::memory_order_acquire);
  state.phase = static_cast<Phase>(packed >> kPhaseShift);
  state.point = static_cast<std::uint32_t>(packed);
  const std::uint64_t calls = slot.calls.load(std::memory_order_acquire);
  state.calls = calls & kCallsMask;
  state.at_once = static_cast<std::uint32_t>(calls >> kAtOnceShift);
  state.meetings = slot.meetings.load(std::memory_order_acquire);
  std::array<char, kStepBytes> step{};
  for (std::size_t word = 0; word < kStepWords; ++word) {
    const std::uint64_t text = slot.step[word].load(std::memory_order_acquire);
    std::memcpy(&step[word * sizeof text], &text, sizeof text);
  }
  step.back() = '\0';
  state.step = step.data();
  // Last: the acquires above make the time of whatever they saw visible here.
  state.since_ns = slot.since_ns.load(std::memory_order_relaxed);
  return state;
}

Heartbeat::Heartbeat(HeartbeatSlot* slot, Observer observer)
    : slot_(slot), observer_(std::move(observer)) {
  Publish();
  PublishStep();
  ObserveSteps(this);
}

Heartbeat::~Heartbeat() {
  if (ObserverOfSteps() == this) ObserveSteps(nullptr);
}

void Heartbeat::Enter(Phase phase, std::uint32_t point) {
  state_.phase = phase;
  state_.point = point;
  Publish();
  Tell();
}

void Heartbeat::CountCalls(std::uint64_t calls) {
  state_.calls += calls;
  state_.at_once = static_cast<std::uint32_t>(calls);
  Publish();
  Tell();
}

void Heartbeat::CountMeeting() {
  ++state_.meetings;
  Publish();
  Tell();
}

void Heartbeat::OnStep(const char* name) {
  state_.step.assign(name, strnlen(name, kStepBytes - 1));
  state_.since_ns = MonotonicNow();
  PublishStep();
  Tell();
}

void Heartbeat::Tell() const {
  if (observer_) {
    observer_(state_);
  }
}

void Heartbeat::PublishStep() {
  std::array<std::uint64_t, kStepWords> words{};
  std::memcpy(words.data(), state_.step.data(), state_.step.size());
  // As in Publish.
  slot_->since_ns.store(state_.since_ns, std::memory_order_relaxed);
  for (std::size_t word = 0; word < kStepWords; ++word) {
    slot_->step[word].store(words[word], std::memory_order_release);
  }
}

void Heartbeat::Publish() {
  state_.since_ns = MonotonicNow();
  // The time first, what it is the time of afterwards, each with release: see Read.
  slot_->since_ns.store(state_.since_ns, std::memory_order_relaxed);
  slot_->phase_and_point.store(Pack(state_.phase, state_.point), std::memory_order_release);
  slot_->calls.store(PackCalls(state_), std::memory_order_release);
  slot_->meetings.store(state_.meetings, std::memory_order_release);
}

}  // namespace mailbench
