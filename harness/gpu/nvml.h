// What NVML says about a GPU. Loaded at run time; where it is absent there is just less to report.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/gpu/gpu_facts.h"

namespace mailbench {

struct NvmlFacts {
  std::string driver;  // "580.95.05"; "" where unknown
  std::optional<int> sm_clock_mhz;
  std::optional<int> sm_clock_max_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<int> memory_clock_max_mhz;
  std::optional<bool> mig;  // the GPU is partitioned
  FabricPlace place;
};

// `pci_bus_id` as cudaDeviceGetPCIBusId writes it. Never fails: what NVML does not tell, or a
// `library` that cannot be loaded, leaves facts empty.
NvmlFacts ReadNvmlFacts(const std::string& pci_bus_id,
                        const std::string& library = "libnvidia-ml.so.1");

// The clock of a GPU's multiprocessors while calls run. Keeps NVML loaded.
class SmClock {
 public:
  // As ReadNvmlFacts.
  explicit SmClock(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~SmClock();
  SmClock(const SmClock&) = delete;
  SmClock& operator=(const SmClock&) = delete;

  std::optional<int> mhz() const;  // now; nothing where NVML does not tell

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mailbench
