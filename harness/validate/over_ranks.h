// What all ranks found together.
#pragma once

#include "harness/validate/check_result.h"

namespace mailbench {

class Instance;
class Ranks;

// Collective. The counts of all ranks; the text of the lowest rank that has one.
CheckResult OverRanks(const CheckResult& own, const Ranks& ranks);

// Collective. This rank's audit, while no rank is in a call.
CheckResult AuditTogether(Instance& instance, const Ranks& ranks);

}  // namespace mailbench
