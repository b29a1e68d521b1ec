#include "harness/gpu/nvml.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace mailbench {
namespace {

// The toolkit has no nvml.h. The ABI, from NVIDIA's "NVML API Reference Guide": every function
// returns an int, 0 for success; a device is an opaque pointer.
using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlClockSm = 1;
constexpr int kNvmlClockMemory = 2;
constexpr unsigned kNvmlDriverVersionLength = 80;

// nvmlGpuFabricInfo_v3_t, since CUDA 13.0. Without its last field it is nvmlGpuFabricInfo_v2_t,
// since CUDA 12.4, which nvml.h says will be removed.
struct NvmlFabricInfo {
  unsigned version = 0;
  std::array<unsigned char, 16> cluster{};
  int status = 0;
  unsigned clique = 0;
  unsigned char state = 0;
  unsigned health_mask = 0;
  unsigned char health_summary = 0;
};
// NVML tells versions of a structure apart by its size and a number in the highest byte.
constexpr std::array<unsigned, 2> kNvmlFabricInfoVersions = {
    sizeof(NvmlFabricInfo) | 3U << 24, offsetof(NvmlFabricInfo, health_summary) | 2U << 24};
static_assert(kNvmlFabricInfoVersions == std::array<unsigned, 2>{0x03000028, 0x02000024});

// One pointer a function; null where the library lacks it.
struct NvmlTable {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char* text, unsigned length) = nullptr;
  int (*device_by_bus_id)(const char* pci_bus_id, NvmlDevice* device) = nullptr;
  int (*clock)(NvmlDevice device, int type, unsigned* mhz) = nullptr;
  int (*max_clock)(NvmlDevice device, int type, unsigned* mhz) = nullptr;
  int (*mig_mode)(NvmlDevice device, unsigned* current, unsigned* pending) = nullptr;
  int (*fabric_info)(NvmlDevice device, NvmlFabricInfo* info) = nullptr;
};

template <typename Function>
void Find(void* library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
}

NvmlTable FindAll(void* library) {
  NvmlTable table;
  Find(library, "nvmlInit_v2", table.init);
  Find(library, "nvmlShutdown", table.shutdown);
  Find(library, "nvmlSystemGetDriverVersion", table.driver_version);
  Find(library, "nvmlDeviceGetHandleByPciBusId_v2", table.device_by_bus_id);
  Find(library, "nvmlDeviceGetClockInfo", table.clock);
  Find(library, "nvmlDeviceGetMaxClockInfo", table.max_clock);
  Find(library, "nvmlDeviceGetMigMode", table.mig_mode);
  Find(library, "nvmlDeviceGetGpuFabricInfoV", table.fabric_info);
  return table;
}

// Whether the function is there and succeeded.
template <typename Function, typename... Arguments>
bool Call(Function* function, Arguments... arguments) {
  return function != nullptr && function(arguments...) == kNvmlSuccess;
}

// The library, loaded and started for as long as this lives.
class Session {
 public:
  explicit Session(const std::string& name) : library_(dlopen(name.c_str(), RTLD_NOW)) {
    if (library_ == nullptr) return;
    const NvmlTable found = FindAll(library_);
    if (!Call(found.init)) return;
    table_ = found;
  }
  ~Session() {
    Call(table_.shutdown);
    if (library_ != nullptr) dlclose(library_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const NvmlTable& table() const { return table_; }  // empty where NVML did not start

 private:
  void* library_;
  NvmlTable table_;
};

std::optional<int> Clock(decltype(NvmlTable::clock) function, NvmlDevice device, int type) {
  unsigned mhz = 0;
  if (!Call(function, device, type, &mhz)) return std::nullopt;
  return static_cast<int>(mhz);
}

std::string Hexadecimal(const std::array<unsigned char, 16>& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    text += digits.data();
  }
  return text;
}

FabricPlace ReadPlace(const NvmlTable& nvml, NvmlDevice device) {
  for (const unsigned version : kNvmlFabricInfoVersions) {
    NvmlFabricInfo info;
    info.version = version;
    if (!Call(nvml.fabric_info, device, &info)) continue;
    return {.state = info.state,
            .status = info.status,
            .cluster = Hexadecimal(info.cluster),
            .clique = info.clique,
            .health_mask = info.health_mask};
  }
  return {};
}

void ReadDevice(const NvmlTable& nvml, NvmlDevice device, NvmlFacts& facts) {
  facts.sm_clock_mhz = Clock(nvml.clock, device, kNvmlClockSm);
  facts.sm_clock_max_mhz = Clock(nvml.max_clock, device, kNvmlClockSm);
  facts.memory_clock_mhz = Clock(nvml.clock, device, kNvmlClockMemory);
  facts.memory_clock_max_mhz = Clock(nvml.max_clock, device, kNvmlClockMemory);
  unsigned current = 0;
  unsigned pending = 0;
  if (Call(nvml.mig_mode, device, &current, &pending)) facts.mig = current != 0;
  facts.place = ReadPlace(nvml, device);
}

}  // namespace

NvmlFacts ReadNvmlFacts(const std::string& pci_bus_id, const std::string& library) {
  NvmlFacts facts;
  const Session session(library);
  const NvmlTable& nvml = session.table();
  std::array<char, kNvmlDriverVersionLength> driver{};
  if (Call(nvml.driver_version, driver.data(), kNvmlDriverVersionLength)) {
    facts.driver = driver.data();
  }
  NvmlDevice device = nullptr;
  if (Call(nvml.device_by_bus_id, pci_bus_id.c_str(), &device)) ReadDevice(nvml, device, facts);
  return facts;
}

struct SmClock::Parts {
  explicit Parts(const std::string& library) : session(library) {}
  Session session;
  NvmlDevice device = nullptr;
};

SmClock::SmClock(const std::string& pci_bus_id, const std::string& library)
    : parts_(std::make_unique<Parts>(library)) {
  if (!Call(parts_->session.table().device_by_bus_id, pci_bus_id.c_str(), &parts_->device)) {
    parts_->device = nullptr;
  }
}

SmClock::~SmClock() = default;

std::optional<int> SmClock::mhz() const {
  if (parts_->device == nullptr) return std::nullopt;
  return Clock(parts_->session.table().clock, parts_->device, kNvmlClockSm);
}

}  // namespace mailbench
