// Whether another process of this host still lives.
#pragma once

#include <cstdint>

namespace mailbench {

// False when no process has this id, or when it has ended and waits for its parent to notice (a
// zombie). A stopped process is alive.
bool ProcessIsAlive(std::int32_t pid);

// True when it does not run because of a signal (SIGSTOP, SIGTSTP) or a debugger. False when /proc
// does not say.
bool ProcessIsStopped(std::int32_t pid);

// Identifies the PID namespace of this process: ids of processes compare only within one. 0 when
// /proc does not say.
std::uint64_t OwnPidNamespace();

}  // namespace mailbench
