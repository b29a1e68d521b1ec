// How a run ended, as run.status of its report says it.
#pragma once

namespace mailbench {

enum class RunStatus {
  kPassed,  // every point ran and every result was right
  kWrong,   // a result was wrong, and every point ran; or it is a stress, which may be cut short
  kHung,    // a rank hung, died or ran out of time
  kInterrupted,  // by SIGINT, SIGTERM or SIGHUP
  kRefused,      // the machine cannot do what was asked for
  kFailed,       // anything else
};
const char* ToString(RunStatus status);

}  // namespace mailbench
