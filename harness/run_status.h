// How a run ended, as run.status of its report says it.
#pragma once

namespace mailbench {

enum class RunStatus {
  kPassed,       // every point ran and every result was right
  kWrong,        // every point ran and a result was wrong
  kHung,         // a rank hung, died or ran out of time
  kInterrupted,  // by SIGINT, SIGTERM or SIGHUP
  kRefused,      // the machine cannot do what was asked for
  kFailed,       // anything else
};
const char* ToString(RunStatus status);

}  // namespace mailbench
