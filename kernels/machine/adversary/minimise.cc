#include "kernels/machine/adversary/minimise.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mailbench {
namespace {

using Clock = std::chrono::steady_clock;

class Minimiser {
 public:
  Minimiser(const Model& model, const WorldRules& rules, const Finding& found,
            const MinimiseBudget& budget)
      : model_(model),
        rules_(rules),
        budget_(budget),
        end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                std::chrono::duration<double>(budget.seconds))),
        best_(found) {}

  Finding Run() {
    for (bool smaller = true; smaller;) {
      smaller = DropReplays();
      smaller = DropProducer() || smaller;
      smaller = DropCalls() || smaller;
      smaller = ShrinkSizes() || smaller;
      smaller = DropRanks() || smaller;
    }
    FewestDelays();
    return best_;
  }

 private:
  bool DropReplays() {
    for (int replays = 1; replays < best_.scenario.replays; ++replays) {
      Scenario smaller = best_.scenario;
      smaller.replays = replays;
      if (Take(smaller)) return true;
    }
    return false;
  }

  bool DropProducer() {
    if (!best_.scenario.producer) return false;
    Scenario smaller = best_.scenario;
    smaller.producer = false;
    return Take(smaller);
  }

  bool DropCalls() {
    bool any = false;
    for (std::size_t i = best_.scenario.sizes.size(); i-- > 0;) {
      if (best_.scenario.sizes.size() == 1) break;
      Scenario smaller = best_.scenario;
      smaller.sizes.erase(smaller.sizes.begin() + static_cast<std::ptrdiff_t>(i));
      any |= Take(smaller);
    }
    return any;
  }

  bool ShrinkSizes() {
    bool any = false;
    for (std::size_t i = 0; i < best_.scenario.sizes.size(); ++i) {
      const std::int64_t packs = best_.scenario.sizes[i];
      for (const std::int64_t fewer : {std::int64_t{1}, packs / 2, packs - 1}) {
        if (fewer < 1 || fewer >= packs) continue;
        Scenario smaller = best_.scenario;
        smaller.sizes[i] = fewer;
        if (!Take(smaller)) continue;
        any = true;
        break;
      }
    }
    return any;
  }

  bool DropRanks() {
    for (int ranks = 1; ranks < best_.scenario.ranks; ++ranks) {
      Scenario smaller = best_.scenario;
      smaller.ranks = ranks;
      if (Take(smaller)) return true;
    }
    return false;
  }

  // With fewer delays first, so that the first found has the fewest.
  void FewestDelays() {
    SearchOptions options;
    options.kind = StrategyKind::kExhaustive;
    options.delay_bound = budget_.delay_bound;
    options.seconds = budget_.delay_seconds;
    if (!GoesOn()) return;
    if (auto found = Look(best_.scenario, options)) best_ = std::move(*found);
  }

  // Takes the scenario where it still shows the violation.
  bool Take(const Scenario& scenario) {
    for (const StrategyKind kind :
         {StrategyKind::kExhaustive, StrategyKind::kBiased, StrategyKind::kPct}) {
      if (Clock::now() >= end_ || !GoesOn()) return false;
      SearchOptions options;
      options.kind = kind;
      options.delay_bound = 1;
      options.seed = best_.schedule.seed;
      options.seconds = budget_.seconds_a_try;
      if (auto found = Look(scenario, options)) {
        best_ = std::move(*found);
        return true;
      }
    }
    return false;
  }

  std::optional<Finding> Look(const Scenario& scenario, SearchOptions options) {
    options.schedules = std::numeric_limits<std::uint64_t>::max();
    options.property = best_.violation.property;
    options.goes_on = [this](std::uint64_t) { return GoesOn(); };
    const std::unique_ptr<ModelWorld> world = model_.make(scenario, rules_);
    const SearchResult result = Search(world->world(), options);
    if (!result.violation) return std::nullopt;
    return Finding{scenario, result.schedule, *result.violation};
  }

  bool GoesOn() const { return !budget_.goes_on || budget_.goes_on(); }

  const Model& model_;
  const WorldRules& rules_;
  MinimiseBudget budget_;
  Clock::time_point end_;
  Finding best_;
};

}  // namespace

Finding Minimise(const Model& model, const WorldRules& rules, const Finding& found,
                 const MinimiseBudget& budget) {
  return Minimiser(model, rules, found, budget).Run();
}

}  // namespace mailbench
