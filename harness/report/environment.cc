#include "harness/report/environment.h"

#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <istream>
#include <string_view>
#include <utility>

#include "harness/gpu/placement.h"

namespace mailbench {
namespace {

constexpr std::array<std::string_view, 2> kReportedPrefixes = {"MAILBENCH_", "NCCL_"};

// Of Open MPI's parameters those that change how ranks are placed or how bytes move. Others may
// hold paths and host names.
constexpr std::array<std::string_view, 19> kReportedNames = {
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
    "CUDA_VISIBLE_DEVICES",
    "OMPI_MCA_btl",
    "OMPI_MCA_btl_vader_single_copy_mechanism",
    "OMPI_MCA_coll",
    "OMPI_MCA_coll_tuned_allgather_algorithm",
    "OMPI_MCA_coll_tuned_use_dynamic_rules",
    "OMPI_MCA_hwloc_base_binding_policy",
    "OMPI_MCA_mpi_yield_when_idle",
    "OMPI_MCA_mtl",
    "OMPI_MCA_osc",
    "OMPI_MCA_osc_sm_backing_directory",
    "OMPI_MCA_pml",
    "OMPI_MCA_rmaps_base_mapping_policy",
    "OMPI_MCA_rmaps_base_oversubscribe",
    "OMPI_MCA_shmem",
};

std::vector<HostRanks> GroupByHost(const std::vector<std::string>& host_by_rank) {
  std::vector<HostRanks> hosts;
  for (std::size_t rank = 0; rank < host_by_rank.size(); ++rank) {
    const std::string& name = host_by_rank[rank];
    auto host = std::find_if(hosts.begin(), hosts.end(),
                             [&](const HostRanks& known) { return known.name == name; });
    if (host == hosts.end()) host = hosts.insert(host, {name, {}});
    host->ranks.push_back(static_cast<int>(rank));
  }
  return hosts;
}

std::string Kernel() {
  utsname name = {};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + ' ' + name.release + ' ' + name.machine;
}

std::string MpiLibrary() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text = {};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string version(text.data());  // not `length`: some libraries count the final NUL
  while (!version.empty() && (version.back() == '\n' || version.back() == ' ')) version.pop_back();
  return version;
}

std::map<std::string, std::string> ReportedVariables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = text.substr(0, equals);
    if (IsReportedVariable(name)) variables[name] = text.substr(equals + 1);
  }
  return variables;
}

}  // namespace

std::vector<GpuRanks> GroupByGpu(const std::vector<GpuFacts>& gpu_by_rank) {
  std::vector<GpuRanks> gpus;
  for (std::vector<int>& ranks : RanksByGpu(gpu_by_rank)) {
    const auto facts = [&](int rank) -> const GpuFacts& {
      return gpu_by_rank[static_cast<std::size_t>(rank)];
    };
    GpuRanks& entry = gpus.emplace_back(GpuRanks{facts(ranks.front()), {}});
    entry.gpu.mps =
        std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return facts(rank).mps; });
    entry.ranks = std::move(ranks);
  }
  return gpus;
}

bool IsReportedVariable(const std::string& name) {
  return std::any_of(kReportedPrefixes.begin(), kReportedPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
         std::find(kReportedNames.begin(), kReportedNames.end(), name) != kReportedNames.end();
}

std::string CpuModel(std::istream& cpuinfo) {
  std::map<std::string, std::string> first;
  for (std::string line; std::getline(cpuinfo, line) && !(line.empty() && !first.empty());) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string::npos) first.emplace(name, line.substr(value));
  }
  if (first.contains("model name")) return first["model name"];
  if (first.contains("CPU implementer") && first.contains("CPU part")) {
    return "Arm implementer " + first["CPU implementer"] + " part " + first["CPU part"];
  }
  return "unknown";
}

Environment GatherEnvironment(const std::vector<std::string>& host_by_rank, std::string transport,
                              std::vector<RefusedTransport> refused_transports) {
  Environment environment;
  environment.hosts = GroupByHost(host_by_rank);
  environment.ranks = static_cast<int>(host_by_rank.size());
  std::ifstream cpuinfo("/proc/cpuinfo");
  environment.cpu_model = CpuModel(cpuinfo);
  environment.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  environment.kernel = Kernel();
  environment.mpi_library = MpiLibrary();
  environment.transport = std::move(transport);
  environment.refused_transports = std::move(refused_transports);
  environment.variables = ReportedVariables();
  return environment;
}

}  // namespace mailbench
