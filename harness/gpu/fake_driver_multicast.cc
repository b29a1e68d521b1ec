// Multicast objects of the fake driver (CUDA Driver API, "Multicast Object Management").
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "harness/gpu/fake_driver.h"
#include "harness/gpu/fake_multicast_guard.h"

namespace mailbench {
namespace {

bool GranularForMulticast(std::size_t bytes) { return bytes % FakeDriver::kMulticastMinimum == 0; }

}  // namespace

CUresult FakeDriver::MulticastGranularity(std::size_t* out, const CUmulticastObjectProp* what,
                                          CUmulticastGranularity_flags which) {
  if (what->numDevices == 0 || what->size == 0) {
    return Misused("multicast granularity: no devices or no size");
  }
  *out = which == CU_MULTICAST_GRANULARITY_MINIMUM ? kMulticastMinimum : kMulticastRecommended;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::MulticastCreate(Handle* handle, const CUmulticastObjectProp* what) {
  if (what->size == 0 || !GranularForMulticast(what->size)) {
    return Misused("multicast create: size not granular");
  }
  if (what->numDevices == 0) return Misused("multicast create: no devices");
  if (what->flags != 0) return Misused("multicast create: flags are not 0");
  if ((what->handleTypes & CU_MEM_HANDLE_TYPE_FABRIC) != 0 && !options_.fabric) {
    return CUDA_ERROR_NOT_PERMITTED;
  }
  std::erase_if(slots_, [](const auto& slot) { return FakeMulticast::References(*slot) == 0; });
  if (slots_.size() >= options_.multicast_slots) return CUDA_ERROR_OUT_OF_MEMORY;
  std::shared_ptr<FakeMulticast> object = FakeMulticast::Create(*what);
  if (!object) return CUDA_ERROR_OUT_OF_MEMORY;
  slots_.push_back(object->state());
  return NewHandle(handle, {.multicast = std::move(object), .creates = true});
}

CUresult FakeDriver::MulticastAddDevice(Handle handle, CUdevice device) {
  FakeMulticast* object = FindMulticast(handle);
  if (object == nullptr) return Misused("add device: no such handle");
  if (device < 0 || device >= kDevices) {
    Misused("add device: no such device");
    return CUDA_ERROR_INVALID_DEVICE;
  }
  const std::string breach = object->Add(Device(device));
  return breach.empty() ? CUDA_SUCCESS : Misused("add device: " + breach);
}

CUresult FakeDriver::MulticastBind(Handle handle, std::size_t offset, Handle memory_handle,
                                   std::size_t memory_offset, std::size_t bytes, Flags flags) {
  if (flags != 0) return Misused("bind: flags are not 0");
  FakeMulticast* object = FindMulticast(handle);
  const auto found = handles_.find(memory_handle);
  if (object == nullptr) return Misused("bind: no such multicast object");
  if (found == handles_.end() || !found->second.memory) return Misused("bind: no such memory");
  const std::shared_ptr<FakeMemory> memory = found->second.memory;
  const FakeDevice device = Device(memory->device);
  if (memory->device < 0 || !object->Has(device)) {
    return Misused("bind: the memory is of no device that this rank has added");
  }
  if (bytes == 0 || !GranularForMulticast(bytes) || !GranularForMulticast(offset) ||
      !GranularForMulticast(memory_offset)) {
    return Misused("bind: size or offset not granular");
  }
  if (memory_offset + bytes > memory->bytes || offset + bytes > object->what().size) {
    return Misused("bind: more than the memory or the object has");
  }
  if (!WaitForDevices(*object, "bind")) return CUDA_ERROR_TIMEOUT;
  const FakeBinding binding{.memory = NameOf(memory->fd),
                            .offset = offset,
                            .memory_offset = memory_offset,
                            .bytes = bytes};
  const std::string breach = object->Bind(device, binding);
  if (!breach.empty()) return Misused("bind: " + breach);
  memory->bound_to.push_back(object->state());
  bindings_.push_back({.object = object->name(),
                       .device = memory->device,
                       .offset = offset,
                       .bytes = bytes,
                       .memory = memory});
  return CUDA_SUCCESS;
}

CUresult FakeDriver::MulticastUnbind(Handle handle, CUdevice device, std::size_t offset,
                                     std::size_t bytes) {
  FakeMulticast* object = FindMulticast(handle);
  if (object == nullptr) return Misused("unbind: no such handle");
  const auto of_device = [&](const Binding& binding) {
    return binding.object.inode == object->name().inode && binding.device == device;
  };
  if (std::none_of(bindings_.begin(), bindings_.end(), of_device)) {
    return Misused("unbind: nothing of that device is bound");
  }
  const auto bound = std::find_if(bindings_.begin(), bindings_.end(), [&](const Binding& binding) {
    return of_device(binding) && binding.offset == offset && binding.bytes == bytes;
  });
  if (bound == bindings_.end()) return Misused("unbind: not the offset and size of the bind");
  if (bound->memory.expired()) return Misused("unbind: the memory was freed before");
  if (Maps(*object)) return StillUsed("unbind: this rank still maps the object");
  object->Unbind(Device(device), offset, bytes);
  bindings_.erase(bound);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::MapMulticast(CUdeviceptr start, Range& range, std::size_t offset,
                                  const std::shared_ptr<FakeMulticast>& object) {
  if (!GranularForMulticast(start)) {
    return Misused("map: the address is not granular for multicast");
  }
  if (!GranularForMulticast(range.bytes) || !GranularForMulticast(offset)) {
    return Misused("map: size or offset not granular for multicast");
  }
  if (offset + range.bytes > object->what().size) {
    return Misused("map: more than the multicast object has");
  }
  if (!WaitForDevices(*object, "map")) return CUDA_ERROR_TIMEOUT;
  if (!GuardMulticastRange(start, range.bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  range.multicast = object;
  range.offset = offset;
  return CUDA_SUCCESS;
}

bool FakeDriver::WaitForDevices(const FakeMulticast& object, const std::string& call) {
  if (WaitFor([&] { return object.complete(); })) return true;
  Misused(call + ": waits for devices that are never added, " + std::to_string(object.added()) +
          " of " + std::to_string(object.what().numDevices));
  return false;
}

FakeMulticast* FakeDriver::FindMulticast(Handle handle) {
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.multicast.get();
}

bool FakeDriver::Bound(const FakeMemory& memory) const {
  return std::any_of(bindings_.begin(), bindings_.end(), [&](const Binding& binding) {
    return binding.memory.lock().get() == &memory;
  });
}

bool FakeDriver::Maps(const FakeMulticast& object) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& range) {
    const std::shared_ptr<FakeMulticast>& mapped = range.second.multicast;
    return mapped && mapped->name().inode == object.name().inode;
  });
}

std::map<CUdeviceptr, FakeDriver::Range>::iterator FakeDriver::FindBefore(CUdeviceptr address) {
  const auto after = ranges_.upper_bound(address);
  return after == ranges_.begin() ? ranges_.end() : std::prev(after);
}

std::vector<std::byte*> FakeDriver::MulticastCopies(void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  const auto found = FindBefore(at);
  Range* const range = found == ranges_.end() ? nullptr : &found->second;
  const CUdeviceptr into = range == nullptr ? 0 : at - found->first;
  if (range == nullptr || !range->multicast || into + bytes > range->bytes) {
    Misused("multicast store: no multicast address");
    return {};
  }
  if (!range->accessible) {
    Misused("multicast store: no access");
    return {};
  }
  std::vector<std::byte*> copies = range->multicast->Copies(range->offset + into, bytes);
  const unsigned devices = range->multicast->what().numDevices;
  if (copies.size() != devices) {
    Misused("multicast store: memory of " + std::to_string(copies.size()) + " of " +
            std::to_string(devices) + " devices is bound");
    return {};
  }
  range->stored = true;
  if (!range->used) range->used = range->multicast->Use();
  return copies;
}

bool FakeDriver::MulticastStore(void* address, const void* words, std::size_t bytes) {
  const std::vector<std::byte*> copies = MulticastCopies(address, bytes);
  if (copies.empty()) return false;
  if (FindBefore(reinterpret_cast<CUdeviceptr>(address))->second.late) return true;
  const auto* const from = static_cast<const std::uint32_t*>(words);
  for (std::byte* const copy : copies) {
    auto* const to = reinterpret_cast<std::uint32_t*>(copy);
    for (std::size_t i = 0; i < bytes / sizeof *to; ++i) {
      std::atomic_ref(to[i]).store(from[i], std::memory_order_relaxed);
    }
  }
  return true;
}

}  // namespace mailbench
