// Decides from the heartbeats of all ranks whether the run still goes on, and says why not. A pure
// function: no clock, no shared memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/watchdog/heartbeat.h"

namespace mailbench {

// Starting MPI, a driver or NCCL takes a while however short the time-out is.
constexpr std::int64_t kLeastSetUpNs = 5'000'000'000;

struct RankSnapshot {
  int rank = 0;          // in the run
  std::int32_t pid = 0;  // 0: has not arrived
  bool alive = true;     // its process exists; means nothing before it has arrived
  bool stopped = false;  // its process is there and does not run
  HeartbeatState state;
};

struct Diagnosis {
  std::vector<int> culprits;  // who died, never arrived or is waited for; ascending
  std::vector<int> waiting;   // who cannot go on without them; ascending
  std::int64_t since_ns = 0;  // CLOCK_MONOTONIC of the culprits' last heartbeat
  std::string text;           // one to three lines without a line end
};

// In this order:
// 1. A rank that arrived, is not in kFinished and whose process is gone has died: at once.
// 2. The furthest-behind ranks are those that are first in the order (not arrived; kStart to
//    kStress by point, phase, calls and meetings; kTearDown; kReport), among the ranks that are not
//    in kFinished. The run hangs when none of *them* has changed for longer than `timeout_ns`, or,
//    up to kSetUp, than kLeastSetUpNs where that is more: the others may only be waiting. A slow
//    rank that still changes is no hang. A step changes a rank's time, not its place in the order.
// 3. When it hangs and ranks that are not in kFinished are stopped, these are the culprits, however
//    far they have come: what they did last may not have reached the others.
// Silence counts from `counting_from_ns` at the earliest: when watching began, or went on after
// this process had itself been stopped.
// REQUIRES: `snapshots` ascending by rank.
std::optional<Diagnosis> Diagnose(std::span<const RankSnapshot> snapshots, std::int64_t now_ns,
                                  std::int64_t timeout_ns, std::int64_t counting_from_ns);

// Where a rank is: "in call 17 (point 3, check)", "in calls 18-117 (point 3, measure)" of one
// graph, "in set-up, in cuMemMap", "at the start".
std::string Describe(const HeartbeatState& state);

}  // namespace mailbench
