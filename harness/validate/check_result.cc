#include "harness/validate/check_result.h"

namespace mailbench {

void CheckResult::Add(const CheckResult& other) {
  calls += other.calls;
  compared += other.compared;
  mismatches += other.mismatches;
  audited += other.audited;
  leftover += other.leftover;
  if (first.empty()) first = other.first;
}

}  // namespace mailbench
