#include "harness/gpu/nvml.h"

#include <dlfcn.h>

#include <array>

namespace mailbench {
namespace {

// The toolkit has no nvml.h. The ABI, from NVIDIA's "NVML API Reference Guide": every function
// returns an int, 0 for success; a device is an opaque pointer.
using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlClockSm = 1;
constexpr int kNvmlClockMemory = 2;
constexpr unsigned kNvmlDriverVersionLength = 80;

class Library {
 public:
  explicit Library(const std::string& name) : handle_(dlopen(name.c_str(), RTLD_NOW)) {}
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Calls `symbol`; true when it is there and succeeded.
  template <typename... Arguments>
  bool Call(const char* symbol, Arguments... arguments) const {
    void* const found = handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
    if (found == nullptr) return false;
    return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) == kNvmlSuccess;
  }

 private:
  void* handle_;
};

std::optional<int> Clock(const Library& nvml, const char* symbol, NvmlDevice device, int type) {
  unsigned mhz = 0;
  if (!nvml.Call(symbol, device, type, &mhz)) return std::nullopt;
  return static_cast<int>(mhz);
}

void ReadDevice(const Library& nvml, NvmlDevice device, NvmlFacts& facts) {
  facts.sm_clock_mhz = Clock(nvml, "nvmlDeviceGetClockInfo", device, kNvmlClockSm);
  facts.sm_clock_max_mhz = Clock(nvml, "nvmlDeviceGetMaxClockInfo", device, kNvmlClockSm);
  facts.memory_clock_mhz = Clock(nvml, "nvmlDeviceGetClockInfo", device, kNvmlClockMemory);
  facts.memory_clock_max_mhz = Clock(nvml, "nvmlDeviceGetMaxClockInfo", device, kNvmlClockMemory);
  unsigned current = 0;
  unsigned pending = 0;
  if (nvml.Call("nvmlDeviceGetMigMode", device, &current, &pending)) facts.mig = current != 0;
}

}  // namespace

NvmlFacts ReadNvmlFacts(const std::string& pci_bus_id, const std::string& library) {
  NvmlFacts facts;
  const Library nvml(library);
  if (!nvml.Call("nvmlInit_v2")) return facts;
  std::array<char, kNvmlDriverVersionLength> driver{};
  if (nvml.Call("nvmlSystemGetDriverVersion", driver.data(), kNvmlDriverVersionLength)) {
    facts.driver = driver.data();
  }
  NvmlDevice device = nullptr;
  if (nvml.Call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &device)) {
    ReadDevice(nvml, device, facts);
  }
  nvml.Call("nvmlShutdown");
  return facts;
}

}  // namespace mailbench
