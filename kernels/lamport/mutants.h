// The shipped all-gathers with one rule broken each: what a checker must find, what it must let
// pass, and what this one lets pass because its machine does not have the fault.
#pragma once

#include <string>
#include <vector>

#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

enum class Fate {
  kKilled,
  kBenign,    // no schedule breaks a property, for the reason given
  kGrade,     // benign, but for stores that land so many calls late: it spends the slack of L7
  kNotShown,  // no schedule of this machine breaks a property; hardware may
};

struct Mutant {
  Model model;  // its summary says which report or which edit the fault stands for
  Fate fate = Fate::kKilled;
  std::string why;  // the argument, or what the fault leads to
  Scenario scenario;
  WorldRules rules;                               // of a grade: those that kill it
  StrategyKind strategy = StrategyKind::kBiased;  // that kills it; it survives all random ones
  std::uint64_t schedules = 0;                    // within which it is killed, or which it survives
  Property property = Property::kOutput;          // by which it is killed
};

std::vector<Mutant> LamportMutants();

}  // namespace mailbench
