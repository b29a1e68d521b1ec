// The shipped all-gathers with one rule broken each: what a checker must find, and what it must
// let pass. What this machine cannot tell is not among them: a weak store to the multicast address,
// which PTX leaves undefined, is like any other multicast store here.
#pragma once

#include <string>
#include <vector>

#include "kernels/machine/adversary/rules.h"
#include "kernels/machine/adversary/scenario.h"
#include "kernels/machine/adversary/search.h"

namespace mailbench {

enum class Fate {
  kKilled,
  kBenign,  // no schedule breaks a property, for the reason given
  kGrade,   // benign, but for stores that land so many calls late: it spends the slack of L7
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
