// File descriptors from one process of a host to another: of all ranks to all, or of one to all.
//
// By SCM_RIGHTS over unix datagram sockets (unix(7)) in a private directory. pidfd_getfd would need
// the rights of a debugger, and abstract sockets do not cross network namespaces.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "harness/file_descriptor.h"
#include "harness/memory/fd_message.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Where tests step in: local calls only. The defaults are what everyone else uses.
struct FdExchangeHooks {
  std::string parent = "/tmp";  // of the private directory
  // On rank 0: there is a directory, and no socket in it.
  std::function<void(const std::string& directory)> directory_made;
  // This rank's socket is bound, and no rank has sent anything. `own` is what this one will send.
  std::function<void(const std::string& directory, const FdMessage& own)> socket_bound;
  std::function<void()> refused;  // this rank has refused a datagram
  bool sends = true;              // false: this rank never sends
};

// The socket of `rank` in an exchange's directory.
std::string FdSocketPath(const std::string& directory, int rank);

// Collective. Gives `fd` to every other rank and returns theirs by rank, close-on-exec; the own
// entry is empty. A message that does not come from the process of the rank that it names (user,
// and process id where both see the same), or is not one of this exchange, is refused, and its
// descriptors are closed; it stops nothing. `fd` stays the caller's.
// Throws MachineError on all ranks alike when they are on several hosts, when a step failed, and
// when some rank's descriptor had not come at `deadline`: it names the ranks, and what was refused.
// Leaves no descriptor and no directory behind. REQUIRES: fd valid.
std::vector<FileDescriptor> ExchangeFds(const Ranks& ranks, int fd,
                                        std::chrono::milliseconds deadline,
                                        const FdExchangeHooks& hooks = {});

// Collective. The same for one descriptor, rank 0's `fd`, which counts for nothing elsewhere: a
// copy of it on every other rank, nothing on rank 0. REQUIRES: fd valid on rank 0.
FileDescriptor BroadcastFd(const Ranks& ranks, int fd, std::chrono::milliseconds deadline,
                           const FdExchangeHooks& hooks = {});

}  // namespace mailbench
