// One message of a descriptor exchange, over a unix datagram socket.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/file_descriptor.h"

namespace mailbench {

inline constexpr std::uint64_t kFdMessageMagic = 0x6d61696c'66647331;  // "mailfds1"

struct FdMessage {
  std::uint64_t magic = kFdMessageMagic;
  std::uint64_t nonce = 0;  // of this exchange: an older one's messages are not mistaken for it
  std::uint64_t rank = 0;   // the sender's
};

// A datagram as it came, from whomever.
struct ReceivedFds {
  FdMessage message;            // zero where `bytes` is not the size of a message
  std::size_t bytes = 0;        // of the datagram, before any truncation
  bool control_lost = false;    // some descriptors did not fit this process's limit
  std::optional<ucred> sender;  // as the kernel vouches for it
  std::vector<FileDescriptor> fds;
};

// A bound, non-blocking datagram socket that asks the kernel for its senders' credentials.
// Throws SystemError, which names the path.
FileDescriptor BindDatagramSocket(const std::string& path);

// Sends `message` and `fd` to the socket at `path` without waiting. Returns false when the
// receiver's queue, or the system's count of descriptors in flight, is full: try again later.
// Throws SystemError, which names the path.
bool SendFd(int socket, const std::string& path, const FdMessage& message, int fd);

// The next datagram; nothing when none is waiting. Throws SystemError.
std::optional<ReceivedFds> ReceiveFds(int socket);

}  // namespace mailbench
