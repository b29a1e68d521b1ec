// Scenarios, rules and schedules as JSON: of a report and of a saved schedule.
#pragma once

#include <string>

#include "harness/report/json_values.h"
#include "kernels/machine/adversary/minimise.h"
#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

Json ScenarioJson(const Scenario& scenario);
Json RulesJson(const WorldRules& rules);
Json ScheduleJson(const ScheduleId& schedule);

// What --save-replay writes and --replay reads.
struct SavedSchedule {
  std::string protocol;
  WorldRules rules;
  Finding finding;
};
std::string SavedScheduleText(const SavedSchedule& saved);
// Throws UsageError, which names `source`, when the text is not a saved schedule.
SavedSchedule ReadSavedSchedule(const std::string& text, const std::string& source);

}  // namespace mailbench
