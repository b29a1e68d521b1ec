// For tests: a multicast object of the fake driver. Its state is a page that all who hold it share,
// processes as well as threads; the memory bound to it is found through that page.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/file_descriptor.h"
#include "harness/gpu/fake_memory.h"

namespace mailbench {

// One GPU of one fake. Fakes have no GPU in common.
struct FakeDevice {
  pid_t pid = 0;
  int fake = 0;
  CUdevice ordinal = 0;

  friend bool operator==(const FakeDevice&, const FakeDevice&) = default;
};

struct FakeBinding {
  FileName memory;
  std::size_t offset = 0;  // into the object
  std::size_t memory_offset = 0;
  std::size_t bytes = 0;
};

struct FakeMulticastState;  // the shared page

// One reference to an object, from a handle or a mapping. What breaks the contract is told in
// words,
// "" when nothing does.
class FakeMulticast {
 public:
  // A new object; null where the system refuses.
  static std::shared_ptr<FakeMulticast> Create(const CUmulticastObjectProp& what);
  // The object of this file. Once its creator has let go of it, that silently is a new, empty one:
  // so it is on real machines.
  static std::shared_ptr<FakeMulticast> Import(const FileDescriptor& fd);
  // Whether the descriptor is of a multicast object.
  static bool IsFileOf(int fd);

  ~FakeMulticast();
  FakeMulticast(const FakeMulticast&) = delete;
  FakeMulticast& operator=(const FakeMulticast&) = delete;

  const FileDescriptor& fd() const { return fd_; }
  const FileName& name() const { return name_; }
  CUmulticastObjectProp what() const;
  unsigned added() const;  // devices
  bool complete() const { return added() == what().numDevices; }
  bool Has(const FakeDevice& device) const;

  std::string Add(const FakeDevice& device);
  // REQUIRES: complete, and Has(device).
  std::string Bind(const FakeDevice& device, const FakeBinding& binding);
  void Unbind(const FakeDevice& device, std::size_t offset, std::size_t bytes);
  // The memory of each device at `bytes` from `offset`, in the order in which they were added;
  // fewer than numDevices where some have none bound there.
  std::vector<std::byte*> Copies(std::size_t offset, std::size_t bytes);

  void CreatorGone();
  // Counts a mapping that is stored through for as long as what is returned lives.
  std::shared_ptr<void> Use() const;
  // A mapping could not be given back: InUse says no from now on.
  void MayStayInUse();
  const std::shared_ptr<FakeMulticastState>& state() const { return state_; }
  // How many references to the object of `state` there are, in all processes.
  static int References(const FakeMulticastState& state);
  // Whether any rank maps it and has stored through it.
  static bool InUse(const FakeMulticastState& state);

 private:
  // `state` has counted this reference already.
  FakeMulticast(FileDescriptor fd, std::shared_ptr<FakeMulticastState> state);
  // Where this process sees the memory; null when it is gone.
  std::byte* Seen(const FileName& memory);

  FileDescriptor fd_;
  FileName name_;
  std::shared_ptr<FakeMulticastState> state_;
  std::map<std::uint64_t, std::pair<std::byte*, std::size_t>> seen_;  // by inode: start and bytes
};

}  // namespace mailbench
