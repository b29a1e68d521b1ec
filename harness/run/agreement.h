// All ranks of a run were asked for the same thing, or none of them starts.
#pragma once

#include <string>

#include "harness/collective/collective.h"
#include "harness/command_line/command_line.h"
#include "harness/ranks/ranks.h"
#include "harness/run/points.h"

namespace mailbench {

// What one rank made of its own arguments.
struct ParsedArguments {
  CommandLine command_line;
  std::string error;  // why they were refused; "" when they were not
};

// Never throws for what the user wrote: the other ranks must hear of it first.
ParsedArguments ParseArguments(int argc, const char* const* argv, const Collective& collective);

// Collective. Throws UsageError on every rank alike when any rank's arguments were refused, or when
// two ranks were given different ones: it then names the ranks and the first differences.
void AgreeOnArguments(const ParsedArguments& own, const Ranks& ranks);

// Collective. What PlanSweep plans, the same on every rank. Throws its MachineError or UsageError
// on every rank alike, and MachineError when the ranks plan different points, as those of unlike
// GPUs may.
SweepPlan AgreeOnPlan(const Collective& collective, const RunConfig& config, const Site& site,
                      const Ranks& ranks);

}  // namespace mailbench
