#include "harness/gpu/device.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_facts_text.h"
#include "harness/gpu/nvml.h"
#include "harness/gpu/placement.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

int CountDevices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    throw MachineError("no GPU to use: the CUDA driver is absent, or older than the CUDA runtime");
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    throw MachineError("no GPU to use: no device is visible");
  }
  if (error != cudaSuccess) ThrowCudaError(error, "cudaGetDeviceCount", __FILE__, __LINE__);
  return count;
}

// An attribute that an older driver does not know is one that the device does not have.
bool HasAttribute(const DriverTable& driver, CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  return driver.DeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS && value != 0;
}

std::string Uuid(const DriverTable& driver, CUdevice device, bool mig) {
  CUuuid uuid{};
  MAILBENCH_DRIVER(driver, DeviceGetUuid, &uuid, device);
  std::string text = mig ? "MIG" : "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> byte{};
    std::snprintf(byte.data(), byte.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += byte.data();
  }
  return text;
}

void ReadRuntimeFacts(int index, GpuFacts& facts) {
  cudaDeviceProp properties{};
  MAILBENCH_CUDA(cudaGetDeviceProperties(&properties, index));
  facts.name = properties.name;
  facts.index = index;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.compute_major = properties.major;
  facts.compute_minor = properties.minor;
  facts.memory_bytes = properties.totalGlobalMem;
  facts.l2_bytes = properties.l2CacheSize;
  std::array<char, 32> bus{};
  MAILBENCH_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), index));
  facts.pci_bus_id = bus.data();
  MAILBENCH_CUDA(cudaDriverGetVersion(&facts.cuda_driver));
  MAILBENCH_CUDA(cudaRuntimeGetVersion(&facts.cuda_runtime));
}

void ReadNvml(GpuFacts& facts) {
  const NvmlFacts nvml = ReadNvmlFacts(facts.pci_bus_id);
  facts.sm_clock_mhz = nvml.sm_clock_mhz;
  facts.sm_clock_max_mhz = nvml.sm_clock_max_mhz;
  facts.memory_clock_mhz = nvml.memory_clock_mhz;
  facts.memory_clock_max_mhz = nvml.memory_clock_max_mhz;
  facts.mig = nvml.mig.value_or(false);
  facts.driver = nvml.driver;
  facts.place = nvml.place;
  if (facts.driver.empty()) facts.driver = CudaVersionText(facts.cuda_driver);
}

GpuFacts ReadFacts(const DriverTable& driver, int index) {
  GpuFacts facts;
  ReadRuntimeFacts(index, facts);
  ReadNvml(facts);
  CUdevice device = 0;
  MAILBENCH_DRIVER(driver, DeviceGet, &device, index);
  facts.uuid = Uuid(driver, device, facts.mig);
  const auto has = [&](CUdevice_attribute attribute) {
    return HasAttribute(driver, device, attribute);
  };
  facts.mps = has(CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
  facts.virtual_memory = has(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  facts.posix_fd = has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
  facts.fabric = has(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
  facts.multicast = has(CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED);
  return facts;
}

GpuFacts TakeDevice(const DriverTable& driver, const Ranks& ranks, int ranks_per_gpu) {
  const int index =
      DeviceIndex(LocalRank(ranks.hosts(), ranks.rank()), ranks_per_gpu, CountDevices());
  MAILBENCH_CUDA(cudaSetDevice(index));
  GpuFacts facts = ReadFacts(driver, index);
  const std::string refusal = GpuRefusal(facts, ranks.one_host());
  if (!refusal.empty()) throw MachineError(refusal);
  return facts;
}

void RequirePeerAccess(const GpuFacts& own, const GpuFacts& peer) {
  if (own.uuid == peer.uuid) return;
  int peer_index = 0;
  if (cudaDeviceGetByPCIBusId(&peer_index, peer.pci_bus_id.c_str()) != cudaSuccess) {
    cudaGetLastError();  // this process does not see it: nothing can be asked, and nothing is wrong
    return;
  }
  int can = 0;
  MAILBENCH_CUDA(cudaDeviceCanAccessPeer(&can, own.index, peer_index));
  if (can == 0) {
    throw MachineError("GPU " + own.pci_bus_id + " has no peer access to GPU " + peer.pci_bus_id);
  }
}

}  // namespace

Device::Device(std::vector<GpuFacts> facts_by_rank, int rank)
    : facts_by_rank_(std::move(facts_by_rank)), rank_(rank) {}

int Device::most_ranks_on_a_gpu() const {
  std::size_t most = 0;
  for (const std::vector<int>& group : RanksByGpu(facts_by_rank_)) {
    most = std::max(most, group.size());
  }
  return static_cast<int>(most);
}

int Device::fewest_multiprocessors() const {
  return std::min_element(facts_by_rank_.begin(), facts_by_rank_.end(),
                          [](const GpuFacts& a, const GpuFacts& b) {
                            return a.multiprocessors < b.multiprocessors;
                          })
      ->multiprocessors;
}

int Device::least_l2_bytes() const {
  return std::min_element(
             facts_by_rank_.begin(), facts_by_rank_.end(),
             [](const GpuFacts& a, const GpuFacts& b) { return a.l2_bytes < b.l2_bytes; })
      ->l2_bytes;
}

Device ChooseDevice(const DriverTable& driver, const Ranks& ranks, int ranks_per_gpu) {
  GpuFacts own;
  VoteOn(ranks, ExitCode::kMachine, [&] { own = TakeDevice(driver, ranks, ranks_per_gpu); });
  std::vector<GpuFacts> facts_by_rank;
  for (const std::string& text : ranks.Gather(WriteGpuFacts(own))) {
    facts_by_rank.push_back(ReadGpuFacts(text));
  }
  ranks.Vote(ExitCode::kMachine, PlacementRefusal(facts_by_rank, ranks_per_gpu));
  const std::vector<std::string>& hosts = ranks.hosts();
  VoteOn(ranks, ExitCode::kMachine, [&] {
    for (std::size_t peer = 0; peer < facts_by_rank.size(); ++peer) {
      // Bus ids tell GPUs of one host apart.
      if (hosts[peer] == hosts[static_cast<std::size_t>(ranks.rank())]) {
        RequirePeerAccess(own, facts_by_rank[peer]);
      }
    }
  });
  return {std::move(facts_by_rank), ranks.rank()};
}

}  // namespace mailbench
