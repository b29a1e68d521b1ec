#include "harness/memory/fd_message.h"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "harness/error.h"

namespace mailbench {
namespace {

constexpr std::size_t kMostFdsInMessage = 253;  // SCM_MAX_FD of Linux: unix(7)

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw SystemError("the path of a unix socket is too long: " + path);
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

void TakeControl(msghdr& header, ReceivedFds& received) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET) continue;
    if (item->cmsg_type == SCM_CREDENTIALS) {
      received.sender.emplace();
      std::memcpy(&*received.sender, CMSG_DATA(item), sizeof(ucred));
    } else if (item->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(item) + i * sizeof fd, sizeof fd);
        received.fds.emplace_back(fd);
      }
    }
  }
}

}  // namespace

FileDescriptor BindDatagramSocket(const std::string& path) {
  FileDescriptor fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_un address = AddressOf(path);
  const int yes = 1;
  // Credentials before the name: a message that came between the two would have none.
  if (!fd.valid() || setsockopt(fd.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) != 0 ||
      bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw SystemError("cannot make a unix socket at " + path + ": " + ErrnoText(errno));
  }
  return fd;
}

bool SendFd(int socket, const std::string& path, const FdMessage& message, int fd) {
  sockaddr_un address = AddressOf(path);
  FdMessage payload = message;
  iovec data{&payload, sizeof payload};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_name = &address;
  header.msg_namelen = sizeof address;
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* const item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(item), &fd, sizeof fd);
  while (sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS) return false;
    throw SystemError("cannot send a file descriptor to " + path + ": " + ErrnoText(errno));
  }
  return true;
}

std::optional<ReceivedFds> ReceiveFds(int socket) {
  ReceivedFds received;
  iovec data{&received.message, sizeof received.message};
  alignas(cmsghdr)
      std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(kMostFdsInMessage * sizeof(int))>
          control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t got = 0;
  // MSG_TRUNC: the return value is the datagram's own length.
  while ((got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC)) < 0) {
    if (errno == EAGAIN) return std::nullopt;
    if (errno != EINTR) throw SystemError("cannot receive file descriptors: " + ErrnoText(errno));
  }
  TakeControl(header, received);
  received.bytes = static_cast<std::size_t>(got);
  received.control_lost = (header.msg_flags & MSG_CTRUNC) != 0;
  if (received.bytes != sizeof received.message) received.message = {.magic = 0};
  return received;
}

}  // namespace mailbench
