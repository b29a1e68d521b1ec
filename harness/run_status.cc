#include "harness/run_status.h"

namespace mailbench {

const char* ToString(RunStatus status) {
  switch (status) {
    case RunStatus::kPassed:
      return "passed";
    case RunStatus::kWrong:
      return "wrong";
    case RunStatus::kHung:
      return "hung";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kRefused:
      return "refused";
    case RunStatus::kFailed:
      return "failed";
  }
  return "failed";
}

}  // namespace mailbench
