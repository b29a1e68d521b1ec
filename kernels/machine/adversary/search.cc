#include "kernels/machine/adversary/search.h"

#include <chrono>
#include <memory>
#include <utility>

namespace mailbench {
namespace {

using Clock = std::chrono::steady_clock;

// Has the world give up when the time is over or nobody wants more.
class Budget {
 public:
  Budget(World& world, const SearchOptions& options)
      : world_(world),
        options_(options),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(options.seconds))) {
    world_.goes_on = [this] { return GoesOn(); };
  }
  ~Budget() { world_.goes_on = nullptr; }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  bool IsSpent(std::uint64_t schedules) {
    schedules_ = schedules;
    return schedules >= options_.schedules;
  }

 private:
  bool GoesOn() {
    const std::uint64_t since = schedules_ - std::exchange(told_, schedules_);
    if (options_.goes_on && !options_.goes_on(since)) return false;
    return options_.seconds <= 0 || Clock::now() < end_;
  }

  World& world_;
  const SearchOptions& options_;
  std::uint64_t schedules_ = 0;  // that have run
  std::uint64_t told_ = 0;
  Clock::time_point end_;
};

// False: the schedule was given up, and does not count.
bool Add(const ScheduleResult& schedule, std::optional<Property> property, SearchResult& result) {
  if (schedule.given_up) return false;
  ++result.schedules;
  result.steps += schedule.steps;
  if (!schedule.violation ||
      schedule.violation->property != property.value_or(schedule.violation->property)) {
    return true;
  }
  result.violation = schedule.violation;
  return true;
}

std::unique_ptr<Strategy> MakeRandom(const ScheduleId& schedule) {
  switch (schedule.kind) {
    case StrategyKind::kUniform:
      return MakeUniform(schedule.seed);
    case StrategyKind::kPct:
      return MakePct(schedule.seed, schedule.pct_steps);
    case StrategyKind::kBiased:
    case StrategyKind::kExhaustive:
      break;
  }
  return MakeBiased(schedule.seed);
}

// How long a schedule of this world is, for PCT to place its changes.
std::uint64_t TypicalSteps(World& world) {
  Delayed undelayed({});
  return world.Run(undelayed).steps;
}

SearchResult SearchAtRandom(World& world, const SearchOptions& options) {
  SearchResult result;
  Budget budget(world, options);
  result.schedule = {options.kind, options.seed, options.first, 0, {}};
  if (options.kind == StrategyKind::kPct) result.schedule.pct_steps = TypicalSteps(world);
  const std::unique_ptr<Strategy> strategy = MakeRandom(result.schedule);
  for (std::uint64_t number = options.first; !budget.IsSpent(result.schedules);
       number += options.stride) {
    result.schedule.number = number;
    strategy->Begin(number);
    if (!Add(world.Run(*strategy), options.property, result) || result.violation) break;
  }
  return result;
}

// All schedules with up to options.delay_bound delays, those with fewer delays first.
class Exhaustive {
 public:
  Exhaustive(World& world, const SearchOptions& options)
      : world_(world), options_(options), budget_(world, options) {}

  SearchResult Run() {
    result_.schedule.kind = StrategyKind::kExhaustive;
    for (int delays = options_.first == 0 ? 0 : 1; delays <= options_.delay_bound; ++delays) {
      std::vector<std::uint64_t> chosen;
      if (!Extend(chosen, 0, delays)) return result_;
    }
    result_.exhausted = true;
    return result_;
  }

 private:
  // Tries all ways to add `left` delays from step `from` on. False: the search is over.
  bool Extend(std::vector<std::uint64_t>& chosen, std::uint64_t from, int left) {
    if (left == 0) return Try(chosen);
    // How far the schedule goes depends on the delays so far.
    const ScheduleResult so_far = Run(chosen);
    if (so_far.given_up) return false;
    const std::uint64_t steps = so_far.steps;
    const bool shared = chosen.empty();
    for (std::uint64_t step = shared ? options_.first : from; step < steps;
         step += shared ? options_.stride : 1) {
      chosen.push_back(step);
      const bool goes_on = Extend(chosen, step, left - 1);
      chosen.pop_back();
      if (!goes_on) return false;
    }
    return true;
  }

  ScheduleResult Run(const std::vector<std::uint64_t>& delays) {
    Delayed strategy(delays);
    strategy.Begin(0);
    return world_.Run(strategy);
  }

  bool Try(const std::vector<std::uint64_t>& chosen) {
    if (budget_.IsSpent(result_.schedules)) return false;
    if (!Add(Run(chosen), options_.property, result_)) return false;
    result_.schedule.delays = chosen;
    return !result_.violation;
  }

  World& world_;
  const SearchOptions& options_;
  Budget budget_;
  SearchResult result_;
};

}  // namespace

const char* ToString(StrategyKind kind) {
  switch (kind) {
    case StrategyKind::kUniform:
      return "uniform";
    case StrategyKind::kBiased:
      return "biased";
    case StrategyKind::kPct:
      return "pct";
    case StrategyKind::kExhaustive:
      return "exhaustive";
  }
  return "";
}

SearchResult Search(World& world, const SearchOptions& options) {
  if (options.kind == StrategyKind::kExhaustive) return Exhaustive(world, options).Run();
  return SearchAtRandom(world, options);
}

ScheduleResult Replay(World& world, const ScheduleId& schedule, std::vector<Event>* trace) {
  if (schedule.kind == StrategyKind::kExhaustive) {
    Delayed strategy(schedule.delays);
    strategy.Begin(0);
    return world.Run(strategy, trace);
  }
  const std::unique_ptr<Strategy> strategy = MakeRandom(schedule);
  strategy->Begin(schedule.number);
  return world.Run(*strategy, trace);
}

}  // namespace mailbench
