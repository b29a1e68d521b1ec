// Typed errors. Each carries the exit code that the run ends with; only main turns one into an
// exit.
#pragma once

#include <stdexcept>
#include <string>

namespace mailbench {

// The exit code of a rank. All ranks agree on the worst: kHung, kWrong, kFailed, kMachine, kUsage.
enum class ExitCode : int {
  kPassed = 0,   // every point ran and every result was right
  kFailed = 1,   // anything that is none of the others: a full disk, an interrupt
  kUsage = 2,    // the command line, the config or a path is at fault
  kMachine = 3,  // this machine cannot do what was asked for
  kHung = 4,     // a rank hung, died or ran out of time
  kWrong = 5,    // a result differed from its reference
};

// The worse of two exit codes, in the order that all ranks agree on.
ExitCode Worse(ExitCode a, ExitCode b);

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what) : std::runtime_error(what), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// The user's input is at fault. The message names the flag, key or path.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& what) : Error(ExitCode::kUsage, what) {}
};

// The machine lacks something. The message names what and why it is needed.
class MachineError : public Error {
 public:
  explicit MachineError(const std::string& what) : Error(ExitCode::kMachine, what) {}
};

// The system refused an operation: a write, a thread, memory.
class SystemError : public Error {
 public:
  explicit SystemError(const std::string& what) : Error(ExitCode::kFailed, what) {}
};

}  // namespace mailbench
