#include "harness/gpu/fake_multicast.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <new>
#include <utility>

namespace mailbench {
namespace {

constexpr std::uint64_t kMagic = 0x6d756c7469636173;  // "multicas"
constexpr std::size_t kMostDevices = 128;
constexpr std::size_t kMostBindings = 512;

struct SharedBinding {
  std::size_t device = 0;  // in the order in which they were added
  FakeBinding binding;
};

template <typename T>
T* MapFile(int fd, std::size_t bytes) {
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return start == MAP_FAILED ? nullptr : static_cast<T*>(start);
}

}  // namespace

struct FakeMulticastState {
  std::uint64_t magic = kMagic;
  pthread_mutex_t mutex{};  // guards what follows
  CUmulticastObjectProp what{};
  int references = 0;
  int mappings_in_use = 0;
  bool may_stay_in_use = false;
  bool creator_gone = false;
  std::size_t device_count = 0;
  std::array<FakeDevice, kMostDevices> devices;
  std::size_t binding_count = 0;
  std::array<SharedBinding, kMostBindings> bindings;

  explicit FakeMulticastState(const CUmulticastObjectProp& properties) : what(properties) {
    pthread_mutexattr_t attributes{};
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    // A rank may be killed while it holds it.
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
};

namespace {

class Lock {
 public:
  explicit Lock(const FakeMulticastState& state)
      : mutex_(const_cast<pthread_mutex_t*>(&state.mutex)) {
    if (pthread_mutex_lock(mutex_) == EOWNERDEAD) pthread_mutex_consistent(mutex_);
  }
  ~Lock() { pthread_mutex_unlock(mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t* mutex_;
};

// The page, mapped and one more time referred to.
std::shared_ptr<FakeMulticastState> Share(FakeMulticastState* state) {
  if (state == nullptr) return nullptr;
  const Lock lock(*state);
  ++state->references;
  return {state, [](FakeMulticastState* mapped) { munmap(mapped, sizeof *mapped); }};
}

std::size_t IndexOf(const FakeMulticastState& state, const FakeDevice& device) {
  const auto end = state.devices.begin() + static_cast<std::ptrdiff_t>(state.device_count);
  return static_cast<std::size_t>(std::find(state.devices.begin(), end, device) -
                                  state.devices.begin());
}

bool Overlap(const FakeBinding& a, const FakeBinding& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

std::shared_ptr<FakeMulticast> FakeMulticast::Create(const CUmulticastObjectProp& what) {
  FileDescriptor fd = MakeFile("fake_multicast", sizeof(FakeMulticastState));
  if (!fd.valid()) return nullptr;
  auto* const page = MapFile<FakeMulticastState>(fd.get(), sizeof(FakeMulticastState));
  if (page == nullptr) return nullptr;
  return std::shared_ptr<FakeMulticast>(
      new FakeMulticast(std::move(fd), Share(new (page) FakeMulticastState(what))));
}

bool FakeMulticast::IsFileOf(int fd) {
  if (SizeOfFile(fd) != sizeof(FakeMulticastState)) return false;
  auto* const page = MapFile<FakeMulticastState>(fd, sizeof(FakeMulticastState));
  const bool is = page != nullptr && page->magic == kMagic;
  if (page != nullptr) munmap(page, sizeof *page);
  return is;
}

std::shared_ptr<FakeMulticast> FakeMulticast::Import(const FileDescriptor& fd) {
  FileDescriptor kept = KeepFile(fd.get());
  auto state = Share(MapFile<FakeMulticastState>(fd.get(), sizeof(FakeMulticastState)));
  if (!kept.valid() || !state) return nullptr;
  std::shared_ptr<FakeMulticast> object(new FakeMulticast(std::move(kept), std::move(state)));
  const bool gone = [&] {
    const Lock lock(*object->state_);
    return object->state_->creator_gone;
  }();
  return gone ? Create(object->what()) : object;
}

FakeMulticast::FakeMulticast(FileDescriptor fd, std::shared_ptr<FakeMulticastState> state)
    : fd_(std::move(fd)), name_(NameOf(fd_)), state_(std::move(state)) {}

FakeMulticast::~FakeMulticast() {
  for (const auto& [inode, memory] : seen_) munmap(memory.first, memory.second);
  const Lock lock(*state_);
  --state_->references;
}

CUmulticastObjectProp FakeMulticast::what() const {
  const Lock lock(*state_);
  return state_->what;
}

unsigned FakeMulticast::added() const {
  const Lock lock(*state_);
  return static_cast<unsigned>(state_->device_count);
}

bool FakeMulticast::Has(const FakeDevice& device) const {
  const Lock lock(*state_);
  return IndexOf(*state_, device) < state_->device_count;
}

std::string FakeMulticast::Add(const FakeDevice& device) {
  const Lock lock(*state_);
  if (IndexOf(*state_, device) < state_->device_count) return "the device was added already";
  if (state_->binding_count > 0) return "memory is bound already";
  if (state_->device_count == std::min<std::size_t>(state_->what.numDevices, kMostDevices)) {
    return "more devices than the object was made for";
  }
  state_->devices[state_->device_count++] = device;
  return "";
}

std::string FakeMulticast::Bind(const FakeDevice& device, const FakeBinding& binding) {
  const Lock lock(*state_);
  const std::size_t index = IndexOf(*state_, device);
  for (std::size_t i = 0; i < state_->binding_count; ++i) {
    const SharedBinding& other = state_->bindings[i];
    if (other.device == index && Overlap(other.binding, binding)) return "memory is bound there";
  }
  if (state_->binding_count == kMostBindings) return "too many for the fake driver";
  state_->bindings[state_->binding_count++] = {.device = index, .binding = binding};
  return "";
}

void FakeMulticast::Unbind(const FakeDevice& device, std::size_t offset, std::size_t bytes) {
  const Lock lock(*state_);
  const std::size_t index = IndexOf(*state_, device);
  for (std::size_t i = 0; i < state_->binding_count; ++i) {
    const SharedBinding& bound = state_->bindings[i];
    if (bound.device != index || bound.binding.offset != offset || bound.binding.bytes != bytes) {
      continue;
    }
    state_->bindings[i] = state_->bindings[--state_->binding_count];
    return;
  }
}

std::vector<std::byte*> FakeMulticast::Copies(std::size_t offset, std::size_t bytes) {
  std::vector<std::byte*> copies(kMostDevices, nullptr);
  const Lock lock(*state_);
  for (std::size_t i = 0; i < state_->binding_count; ++i) {
    const FakeBinding& bound = state_->bindings[i].binding;
    if (offset < bound.offset || offset + bytes > bound.offset + bound.bytes) continue;
    std::byte* const start = Seen(bound.memory);
    if (start == nullptr) continue;
    copies[state_->bindings[i].device] = start + bound.memory_offset + (offset - bound.offset);
  }
  std::erase(copies, nullptr);
  return copies;
}

void FakeMulticast::CreatorGone() {
  const Lock lock(*state_);
  state_->creator_gone = true;
}

std::shared_ptr<void> FakeMulticast::Use() const {
  const Lock lock(*state_);
  ++state_->mappings_in_use;
  return {nullptr, [state = state_](void*) {
            const Lock again(*state);
            --state->mappings_in_use;
          }};
}

void FakeMulticast::MayStayInUse() {
  const Lock lock(*state_);
  state_->may_stay_in_use = true;
}

bool FakeMulticast::InUse(const FakeMulticastState& state) {
  const Lock lock(state);
  return state.mappings_in_use > 0 && !state.may_stay_in_use;
}

int FakeMulticast::References(const FakeMulticastState& state) {
  const Lock lock(state);
  return state.references;
}

std::byte* FakeMulticast::Seen(const FileName& memory) {
  const auto found = seen_.find(memory.inode);
  if (found != seen_.end()) return found->second.first;
  const FileDescriptor fd = OpenFile(memory);
  if (!fd.valid()) return nullptr;
  const std::size_t bytes = SizeOfFile(fd.get());
  auto* const start = MapFile<std::byte>(fd.get(), bytes);
  if (start != nullptr) seen_[memory.inode] = {start, bytes};
  return start;
}

}  // namespace mailbench
