// A search on several cores: each worker has a world of its own.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

struct ParallelResult {
  SearchResult total;  // of all workers; the schedule is that of the violation, if any
  int workers = 0;
  double seconds = 0;  // from the first schedule to the last

  double schedules_per_second_per_worker() const;
  double steps_per_schedule() const;
};

// `options.schedules` is for all workers together; first and stride are not looked at; goes_on is
// asked by all workers, also at once. The first violation stops all workers. `show`, where given,
// is called now and then, by one worker at a time, with how many schedules have run. Throws what a
// worker throws.
ParallelResult SearchInParallel(const Model& model, const Scenario& scenario,
                                const WorldRules& rules, const SearchOptions& options, int workers,
                                const std::function<void(std::uint64_t)>& show);

}  // namespace mailbench
