#include "harness/report/environment_json.h"

#include "harness/gpu/gpu_facts_text.h"

namespace mailbench {
namespace {

Json HostsJson(const Environment& environment) {
  Json hosts = Json::array();
  for (const HostRanks& host : environment.hosts) {
    hosts.push_back({{"name", host.name}, {"ranks", host.ranks}});
  }
  return hosts;
}

Json RefusedJson(const Environment& environment) {
  Json refused = Json::array();
  for (const RefusedTransport& transport : environment.refused_transports) {
    refused.push_back({{"transport", transport.transport}, {"reason", transport.reason}});
  }
  return refused;
}

Json FabricJson(const FabricPlace& place) {
  if (!place.state) return nullptr;
  return {{"state", FabricStateText(*place.state)},
          {"status", place.status},
          {"cluster", place.cluster},
          {"clique", place.clique},
          {"health_mask", HealthMaskText(place.health_mask)},
          {"not_healthy", FabricTroubles(place.health_mask)}};
}

Json GpuJson(const GpuRanks& entry) {
  const GpuFacts& gpu = entry.gpu;
  return {{"name", gpu.name},
          {"uuid", gpu.uuid},
          {"pci_bus_id", gpu.pci_bus_id},
          {"index", gpu.index},
          {"ranks", entry.ranks},
          {"multiprocessors", gpu.multiprocessors},
          {"compute_major", gpu.compute_major},
          {"compute_minor", gpu.compute_minor},
          {"memory_bytes", gpu.memory_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"driver", gpu.driver},
          {"sm_clock_mhz", NumberOrNull(gpu.sm_clock_mhz)},
          {"sm_clock_max_mhz", NumberOrNull(gpu.sm_clock_max_mhz)},
          {"memory_clock_mhz", NumberOrNull(gpu.memory_clock_mhz)},
          {"memory_clock_max_mhz", NumberOrNull(gpu.memory_clock_max_mhz)},
          {"mig", gpu.mig},
          {"mps", gpu.mps},
          {"virtual_memory", gpu.virtual_memory},
          {"posix_fd", gpu.posix_fd},
          {"fabric", gpu.fabric},
          {"multicast", gpu.multicast},
          {"nvlink_fabric", FabricJson(gpu.place)}};
}

Json GpusJson(const Environment& environment) {
  Json gpus = Json::array();
  for (const GpuRanks& entry : GroupByGpu(environment.gpus)) gpus.push_back(GpuJson(entry));
  return gpus;
}

Json CudaJson(const Environment& environment) {
  if (environment.gpus.empty()) return nullptr;
  const GpuFacts& gpu = environment.gpus.front();
  return {{"runtime", CudaVersionText(gpu.cuda_runtime)},
          {"driver", CudaVersionText(gpu.cuda_driver)}};
}

Json NcclJson(const Environment& environment) {
  if (environment.nccl_version.empty()) return nullptr;
  return {{"version", environment.nccl_version}, {"path", TextOrNull(environment.nccl_path)}};
}

}  // namespace

Json EnvironmentJson(const Environment& environment) {
  const int ranks_per_gpu = environment.ranks_per_gpu;
  return {{"hosts", HostsJson(environment)},
          {"ranks", environment.ranks},
          {"cpu_model", environment.cpu_model},
          {"cores", environment.cores},
          {"kernel", environment.kernel},
          {"mpi_library", environment.mpi_library},
          {"transport", environment.transport},
          {"refused_transports", RefusedJson(environment)},
          {"ranks_per_gpu", ranks_per_gpu > 0 ? Json(ranks_per_gpu) : Json(nullptr)},
          {"gpus", GpusJson(environment)},
          {"cuda", CudaJson(environment)},
          {"nccl", NcclJson(environment)},
          {"nccl_refusal", TextOrNull(environment.nccl_refusal)},
          {"variables", Json(environment.variables)}};
}

}  // namespace mailbench
