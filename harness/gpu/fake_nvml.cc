// For tests: a library with some of NVML's functions, for three GPUs. It has no memory clocks.
#include <array>
#include <cstring>
#include <string_view>

namespace {

struct Gpu {
  std::string_view pci_bus_id;
  unsigned fabric_info_version;  // the one that is answered; 0: none
  unsigned health_mask;
};

std::array<Gpu, 3> gpus = {{{"0000:65:00.0", 0x02000024, 0x99},
                            {"0000:66:00.0", 0x03000028, 0x5aa},
                            {"0000:67:00.0", 0, 0}}};

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  constexpr std::string_view kVersion = "580.95.05";
  if (length <= kVersion.size()) return 7;
  std::memcpy(text, kVersion.data(), kVersion.size() + 1);
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  for (Gpu& gpu : gpus) {
    *device = &gpu;
    if (gpu.pci_bus_id == bus) return 0;
  }
  return 6;
}

int nvmlDeviceGetClockInfo(void* /*device*/, int type, unsigned* mhz) {
  *mhz = 1755;
  return type == 1 ? 0 : 3;
}

int nvmlDeviceGetMaxClockInfo(void* /*device*/, int type, unsigned* mhz) {
  *mhz = 1980;
  return type == 1 ? 0 : 3;
}

int nvmlDeviceGetMigMode(void* /*device*/, unsigned* current, unsigned* pending) {
  *current = 1;
  *pending = 0;
  return 0;
}

// The structure as NVML lays it out; what a caller with another one passes is refused.
int nvmlDeviceGetGpuFabricInfoV(void* device, void* info) {
  const Gpu& gpu = *static_cast<const Gpu*>(device);
  unsigned version = 0;
  std::memcpy(&version, info, sizeof version);
  if (version != gpu.fabric_info_version) return 25;
  auto* const bytes = static_cast<unsigned char*>(info);
  for (unsigned char i = 0; i < 16; ++i) bytes[4 + i] = static_cast<unsigned char>(0xa0 + i);
  const unsigned status = 0;
  const unsigned clique = 32766;
  std::memcpy(bytes + 20, &status, sizeof status);
  std::memcpy(bytes + 24, &clique, sizeof clique);
  bytes[28] = 3;
  std::memcpy(bytes + 32, &gpu.health_mask, sizeof gpu.health_mask);
  if (version >> 24 == 3) bytes[36] = 2;
  return 0;
}
}
