// Facts of the machine that a run used, for its report.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "harness/gpu/gpu_facts.h"
#include "harness/memory/transport.h"

namespace mailbench {

struct HostRanks {
  std::string name;
  std::vector<int> ranks;  // ascending
};

struct GpuRanks {
  GpuFacts gpu;            // as its lowest rank sees it; under MPS only when all of its ranks are
  std::vector<int> ranks;  // ascending
};

struct Environment {
  std::vector<HostRanks> hosts;  // in the order of their lowest rank
  int ranks = 0;
  std::vector<GpuFacts> gpus;  // by rank; empty where none is used
  int ranks_per_gpu = 0;       // 0 where no GPU is used
  std::string nccl_version;    // "2.32.3"; empty where it is not used
  std::string nccl_path;       // of the library that was loaded
  std::string nccl_refusal;    // why it is not used; empty when it is, or was not asked for
  // Of the host that gathered them.
  std::string cpu_model;
  int cores = 0;       // logical processors online
  std::string kernel;  // "Linux 6.1.0-18-amd64 x86_64"
  std::string mpi_library;
  std::string transport;
  std::vector<RefusedTransport> refused_transports;  // better than the one used
  std::map<std::string, std::string> variables;      // those that IsReportedVariable allows
};

// The GPUs in the order of their lowest rank, told apart by their UUID. A MIG instance has its own.
std::vector<GpuRanks> GroupByGpu(const std::vector<GpuFacts>& gpu_by_rank);

// `host_by_rank` as in Ranks::hosts(). Leaves out what is known of GPUs and NCCL. Communicates
// nothing; may be called before MPI starts.
Environment GatherEnvironment(const std::vector<std::string>& host_by_rank, std::string transport,
                              std::vector<RefusedTransport> refused_transports);

// Whether a report may show this variable. The list is closed: an environment holds secrets.
bool IsReportedVariable(const std::string& name);

// The processor's name from /proc/cpuinfo: "model name" where the kernel gives one (x86), otherwise
// the numbers of the Arm implementer and part; "unknown" when there is neither.
std::string CpuModel(std::istream& cpuinfo);

}  // namespace mailbench
