#include "harness/error.h"

namespace mailbench {
namespace {

int Severity(ExitCode code) {
  switch (code) {
    case ExitCode::kPassed:
      return 0;
    case ExitCode::kUsage:
      return 1;
    case ExitCode::kMachine:
      return 2;
    case ExitCode::kFailed:
      return 3;
    case ExitCode::kWrong:
      return 4;
    case ExitCode::kHung:
      return 5;
  }
  return 3;
}

}  // namespace

ExitCode Worse(ExitCode a, ExitCode b) { return Severity(a) >= Severity(b) ? a : b; }

}  // namespace mailbench
