// Looks for a schedule that breaks a property.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/machine/adversary/world.h"

namespace mailbench {

enum class StrategyKind { kUniform, kBiased, kPct, kExhaustive };
const char* ToString(StrategyKind kind);  // "biased"

// One schedule, by which it is found again: number `number` of a random strategy with `seed`, or
// the delays of an exhaustive one.
struct ScheduleId {
  StrategyKind kind = StrategyKind::kBiased;
  std::uint64_t seed = 1;
  std::uint64_t number = 0;
  std::uint64_t pct_steps = 0;  // as given to MakePct
  std::vector<std::uint64_t> delays;
};

struct SearchOptions {
  StrategyKind kind = StrategyKind::kBiased;
  std::uint64_t seed = 1;
  // Number of the first schedule of a random strategy and the distance to the next, so that workers
  // share a search; the exhaustive one shares the steps of the first delay.
  std::uint64_t first = 0;
  std::uint64_t stride = 1;
  std::uint64_t schedules = 1;  // at most so many
  int delay_bound = 2;          // of the exhaustive strategy: all schedules with so many delays
  double seconds = 0;           // at most so long; 0: no limit
  std::optional<Property> property = {};  // only this counts; nothing: any
  // Asked now and then, with how many schedules have run since the last time. False ends the
  // search.
  std::function<bool(std::uint64_t)> goes_on = {};
};

struct SearchResult {
  std::uint64_t schedules = 0;
  std::uint64_t steps = 0;
  bool exhausted = false;  // there are no more schedules within the delay bound
  std::optional<Violation> violation;
  ScheduleId schedule;  // that showed it
};

// Stops at the first violation.
SearchResult Search(World& world, const SearchOptions& options);

// Runs one schedule again. `trace` as in World::Run.
ScheduleResult Replay(World& world, const ScheduleId& schedule, std::vector<Event>* trace);

}  // namespace mailbench
