#include "harness/gpu/fake_driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "harness/gpu/fake_multicast_guard.h"

namespace mailbench {
namespace {

using std::chrono::steady_clock;

std::atomic<int> fakes = 0;

std::string Count(std::size_t count, const std::string& noun) {
  return count == 0 ? "" : std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

bool GivesBack(const std::string& function) {
  static const std::set<std::string> kFunctions = {"cuMemRelease", "cuMemUnmap", "cuMemAddressFree",
                                                   "cuMulticastUnbind", "cuCtxSynchronize"};
  return kFunctions.contains(function);
}

}  // namespace

FakeDriver::FakeDriver() : number_(fakes++) {}

FakeDriver::~FakeDriver() { Reset(); }

void FakeDriver::FailCall(const std::string& function, int number, CUresult code) {
  failing_ = function;
  failing_number_ = number + calls_[function];
  failing_code_ = code;
}

void FakeDriver::StallCall(const std::string& function, int number) {
  stalling_ = function;
  stalling_number_ = number + calls_[function];
}

void FakeDriver::Reset() {
  options_ = {};
  calls_.clear();
  misuse_.clear();
  failing_.clear();
  stalling_.clear();
  waits_ended_ = false;
  failed_to_give_back_ = false;
  for (const auto& [handle, owned] : handles_) {
    if (owned.creates) owned.multicast->CreatorGone();
  }
  for (const auto& [start, range] : ranges_) {
    UnguardMulticastRange(start);
    munmap(range.reservation, range.reserved);
  }
  ranges_.clear();
  handles_.clear();
  bindings_.clear();
  exported_.clear();
  slots_.clear();
}

std::string FakeDriver::Alive() const {
  const auto mapped = static_cast<std::size_t>(std::count_if(
      ranges_.begin(), ranges_.end(), [](const auto& range) { return range.second.mapped(); }));
  const auto open = static_cast<std::size_t>(std::count_if(
      exported_.begin(), exported_.end(),
      [](const auto& exported) { return InodeOf(exported.first) == exported.second.inode; }));
  std::string text;
  for (const std::string& part :
       {Count(handles_.size(), "handle"), Count(ranges_.size(), "range"), Count(mapped, "mapping"),
        Count(bindings_.size(), "binding"), Count(open, "descriptor")}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::optional<CUresult> FakeDriver::Intercept(const std::string& function) {
  const int number = calls_[function]++;
  if (function == stalling_ && number == stalling_number_) {
    stalled_ = true;
    while (!waits_ended_) std::this_thread::sleep_for(std::chrono::microseconds(50));
    stalled_ = false;
  }
  if (function != failing_ || number != failing_number_) return std::nullopt;
  failed_to_give_back_ = failed_to_give_back_ || GivesBack(function);
  if (function == "cuMemUnmap") {
    for (const auto& [start, range] : ranges_) {
      if (range.multicast) range.multicast->MayStayInUse();
    }
  }
  return failing_code_;
}

bool FakeDriver::WaitFor(const std::function<bool()>& condition) const {
  const auto start = steady_clock::now();
  while (!condition()) {
    const bool impatient =
        options_.patience.count() > 0 && steady_clock::now() - start > options_.patience;
    if (impatient || waits_ended_) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

CUresult FakeDriver::NewHandle(Handle* handle, Owned owned) {
  *handle = next_handle_++;
  handles_[*handle] = std::move(owned);
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Misused(const std::string& what) {
  misuse_.push_back(what);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult FakeDriver::StillUsed(const std::string& what) {
  return failed_to_give_back_ ? CUDA_ERROR_INVALID_VALUE : Misused(what);
}

FakeDriver::Range* FakeDriver::Find(CUdeviceptr start, std::size_t bytes) {
  const auto found = ranges_.find(start);
  return found == ranges_.end() || found->second.bytes != bytes ? nullptr : &found->second;
}

FakeDevice FakeDriver::Device(CUdevice device) const {
  return {.pid = getpid(), .fake = number_, .ordinal = device};
}

CUresult FakeDriver::Synchronize() {
  for (auto& [start, range] : ranges_) range.stored = false;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::DeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= kDevices) {
    Misused("device get: no such device");
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult FakeDriver::Attribute(int* value, CUdevice_attribute attribute) const {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    // True without a channel for such handles too: so it is on real machines.
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace mailbench
