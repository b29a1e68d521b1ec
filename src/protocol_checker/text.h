// What the checker prints, as text.
#pragma once

#include <string>
#include <vector>

#include "kernels/machine/adversary/minimise.h"
#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"
#include "kernels/machine/adversary/world.h"
#include "src/protocol_checker/parallel_search.h"

namespace mailbench {

std::string Describe(const Scenario& scenario);  // "2 ranks, calls of 1, 2 packs, ..."
std::string Describe(const WorldRules& rules);
std::string Describe(const ScheduleId& schedule);  // "biased, seed 1, schedule 12"

// Three lines: protocol, scenario, rules.
std::string HeadText(const std::string& protocol, const std::string& summary,
                     const Scenario& scenario, const WorldRules& rules);
// The table of strategies: its first line, and a line of it.
std::string TableHead();
std::string TableLine(StrategyKind kind, int delay_bound, const ParallelResult& result);

}  // namespace mailbench
