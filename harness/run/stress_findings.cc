#include "harness/run/stress_findings.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "harness/error.h"

namespace mailbench {
namespace {

std::string Counted(std::uint64_t count, const std::string& what) {
  return (count == 0 ? "no" : std::to_string(count)) + ' ' + what + (count > 1 ? "s" : "");
}

// "mnnvl 64 of 20005", "lamport none on record".
std::string Part(const StressRecord& record) {
  if (record.calls == 0) return record.algorithm + " none on record";
  return record.algorithm + ' ' + std::to_string(record.wrong_calls) + " of " +
         std::to_string(record.calls);
}

}  // namespace

void StressFindings::Note(const StressRecord& record) {
  const std::lock_guard lock(mutex_);
  const auto older = std::find_if(records_.begin(), records_.end(), [&](const StressRecord& other) {
    return other.algorithm == record.algorithm;
  });
  if (older == records_.end()) {
    records_.push_back(record);
  } else {
    *older = record;
  }
}

void StressFindings::AddTo(Ending& ending) const {
  const std::lock_guard lock(mutex_);
  if (records_.empty()) return;
  std::uint64_t wrong_calls = 0;
  std::uint64_t leftover = 0;
  std::string parts;
  for (const StressRecord& record : records_) {
    wrong_calls += record.wrong_calls;
    leftover += record.check.leftover;
    parts += (parts.empty() ? "" : ", ") + Part(record);
  }
  ending.reason += "\nfound by then: " + Counted(wrong_calls, "wrong call");
  if (leftover > 0) ending.reason += ", " + Counted(leftover, "word") + " left in mailboxes";
  ending.reason += " (" + parts + ")";
  if (wrong_calls + leftover == 0) return;
  ending.code = Worse(ending.code, ExitCode::kWrong);
  if (ending.code == ExitCode::kWrong) ending.status = RunStatus::kWrong;
}

}  // namespace mailbench
