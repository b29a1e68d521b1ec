#include "src/protocol_checker/parallel_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace mailbench {
namespace {

using Clock = std::chrono::steady_clock;

class Crew {
 public:
  Crew(const Model& model, const Scenario& scenario, const WorldRules& rules,
       const SearchOptions& options, int workers, const std::function<void(std::uint64_t)>& show)
      : model_(model),
        scenario_(scenario),
        rules_(rules),
        options_(options),
        show_(show),
        results_(static_cast<std::size_t>(workers)) {}

  std::vector<SearchResult> Run() {
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < results_.size(); ++i) {
        threads.emplace_back([this, i] { Work(i); });
      }
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(results_);
  }

 private:
  void Work(std::size_t worker) try {
    const std::uint64_t workers = results_.size();
    SearchOptions options = options_;
    options.first = worker;
    options.stride = workers;
    options.schedules = options_.schedules / workers + (worker < options_.schedules % workers);
    options.goes_on = [this](std::uint64_t schedules) { return GoesOn(schedules); };
    const std::unique_ptr<ModelWorld> world = model_.make(scenario_, rules_);
    results_[worker] = Search(world->world(), options);
    if (results_[worker].violation) stop_ = true;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    stop_ = true;
  }

  bool GoesOn(std::uint64_t schedules) {
    const std::uint64_t done = done_ += schedules;
    if (options_.goes_on && !options_.goes_on(schedules)) stop_ = true;
    if (show_) {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      constexpr std::chrono::milliseconds kBetweenShows(200);
      if (lock && Clock::now() >= next_show_) {
        next_show_ = Clock::now() + kBetweenShows;
        show_(done);
      }
    }
    return !stop_;
  }

  const Model& model_;
  const Scenario& scenario_;
  const WorldRules& rules_;
  const SearchOptions& options_;
  const std::function<void(std::uint64_t)>& show_;
  std::vector<SearchResult> results_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint64_t> done_ = 0;
  std::mutex mutex_;  // of what follows
  Clock::time_point next_show_{};
  std::exception_ptr failure_;
};

// The exhaustive one is found again by its delays alone, a random one by its number.
bool ComesBefore(const ScheduleId& a, const ScheduleId& b) {
  if (a.kind != StrategyKind::kExhaustive) return a.number < b.number;
  return std::pair(a.delays.size(), a.delays) < std::pair(b.delays.size(), b.delays);
}

void Merge(const SearchResult& result, SearchResult& total) {
  total.schedules += result.schedules;
  total.steps += result.steps;
  total.exhausted = total.exhausted && result.exhausted;
  if (!result.violation) return;
  if (total.violation && ComesBefore(total.schedule, result.schedule)) return;
  total.violation = result.violation;
  total.schedule = result.schedule;
}

}  // namespace

double ParallelResult::schedules_per_second_per_worker() const {
  return seconds > 0 ? static_cast<double>(total.schedules) / seconds / workers : 0;
}

double ParallelResult::steps_per_schedule() const {
  return total.schedules > 0
             ? static_cast<double>(total.steps) / static_cast<double>(total.schedules)
             : 0;
}

ParallelResult SearchInParallel(const Model& model, const Scenario& scenario,
                                const WorldRules& rules, const SearchOptions& options, int workers,
                                const std::function<void(std::uint64_t)>& show) {
  const Clock::time_point start = Clock::now();
  const auto most = static_cast<int>(
      std::min<std::uint64_t>(static_cast<std::uint64_t>(workers), options.schedules));
  Crew crew(model, scenario, rules, options, most, show);
  const std::vector<SearchResult> results = crew.Run();
  ParallelResult merged;
  merged.workers = most;
  merged.total.exhausted = true;
  for (const SearchResult& result : results) Merge(result, merged.total);
  merged.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return merged;
}

}  // namespace mailbench
