#include "harness/validate/over_ranks.h"

#include <cstdint>
#include <string>

#include "harness/collective/collective.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

CheckResult OverRanks(const CheckResult& own, const Ranks& ranks) {
  CheckResult all;
  const auto total = [&](std::uint64_t count) {
    double sum = 0;  // exact: counts stay below 2^53
    for (const double value : ranks.Gather(static_cast<double>(count))) sum += value;
    return static_cast<std::uint64_t>(sum);
  };
  all.calls = total(own.calls);
  all.compared = total(own.compared);
  all.mismatches = total(own.mismatches);
  all.audited = total(own.audited);
  all.leftover = total(own.leftover);
  for (const std::string& first : ranks.Gather(own.first)) {
    if (all.first.empty()) all.first = first;
  }
  return all;
}

CheckResult AuditTogether(Instance& instance, const Ranks& ranks) {
  ranks.Barrier();
  const CheckResult result = instance.Audit();
  ranks.Barrier();
  return result;
}

}  // namespace mailbench
