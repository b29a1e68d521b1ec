// What a rank's GPU is. Free of CUDA, so that reports need no toolkit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mailbench {

// nvmlGpuFabricState_t of nvml.h: how far the GPU's registration with an NVLink fabric is.
inline constexpr int kFabricNotSupported = 0;
inline constexpr int kFabricNotStarted = 1;
inline constexpr int kFabricInProgress = 2;
inline constexpr int kFabricCompleted = 3;

// What NVML says of the GPU's place in an NVLink fabric (nvmlDeviceGetGpuFabricInfoV).
struct FabricPlace {
  // kFabric...; nothing where NVML, or this function of it, is absent: then nothing else counts.
  std::optional<int> state;
  int status = 0;       // nvmlReturn_t of the registration: 0 for success; counts when completed
  std::string cluster;  // its UUID, 32 hexadecimal digits: all 0 on an HGX board; "" without state
  std::uint32_t clique = 0;       // the NVLink domain within the cluster
  std::uint32_t health_mask = 0;  // NVML_GPU_FABRIC_HEALTH_MASK_*; see FabricTroubles
};

struct GpuFacts {
  std::string name;        // "NVIDIA H200"
  std::string uuid;        // "GPU-..."; with MIG "MIG-...": of the instance
  std::string pci_bus_id;  // "0000:65:00.0"
  int index = 0;           // among the devices that the process sees
  int multiprocessors = 0;
  int compute_major = 0;
  int compute_minor = 0;
  std::uint64_t memory_bytes = 0;
  int l2_bytes = 0;
  std::string driver;    // NVML's text, "580.95.05"; without NVML the CUDA version, "13.0"
  int cuda_driver = 0;   // newest CUDA that the driver knows; 13.0 is 13000
  int cuda_runtime = 0;  // that the program was linked with, in the same way
  // From NVML: nothing where it is absent.
  std::optional<int> sm_clock_mhz;
  std::optional<int> sm_clock_max_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<int> memory_clock_max_mhz;
  bool mig = false;             // the GPU is partitioned; false too where NVML is absent
  bool mps = false;             // CU_DEVICE_ATTRIBUTE_MPS_ENABLED
  bool virtual_memory = false;  // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
  bool posix_fd = false;        // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
  // An attribute is no permission: these two read true on machines where the calls are refused.
  bool fabric = false;     // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED
  bool multicast = false;  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
  FabricPlace place;
};

}  // namespace mailbench
