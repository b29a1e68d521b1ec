// The signals that end a run: taken by one thread, at a time of its choosing.
#pragma once

#include <chrono>

namespace mailbench {

// Blocks SIGTERM, SIGINT and SIGHUP in this thread and all that it starts later, and ignores
// SIGPIPE and SIGXFSZ: a reader of our output that goes away, and a file that grows past a limit,
// are errors of write. A signal that the parent process told this one to ignore (nohup, a
// background job) stays ignored. REQUIRES: called first in main, before any other thread exists,
// MPI's included.
void BlockSignals();

// Waits until one of those signals arrives and takes it; 0 after `timeout`. May return 0 early.
int WaitForSignal(std::chrono::milliseconds timeout);

// "SIGTERM" and the like for those three, "a signal" for any other.
const char* SignalName(int signal);

}  // namespace mailbench
