// Facts of the machine that a run used, for its report.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "harness/memory/transport.h"

namespace mailbench {

struct HostRanks {
  std::string name;
  std::vector<int> ranks;  // ascending
};

struct Environment {
  std::vector<HostRanks> hosts;  // in the order of their lowest rank
  int ranks = 0;
  // Of the host that gathered them.
  std::string cpu_model;
  int cores = 0;       // logical processors online
  std::string kernel;  // "Linux 6.1.0-18-amd64 x86_64"
  std::string mpi_library;
  std::string transport;
  std::vector<RefusedTransport> refused_transports;  // better than the one used
  std::map<std::string, std::string> variables;      // those that IsReportedVariable allows
};

// `host_by_rank` as in Ranks::hosts(). Communicates nothing; may be called before MPI starts.
Environment GatherEnvironment(const std::vector<std::string>& host_by_rank, std::string transport,
                              std::vector<RefusedTransport> refused_transports);

// Whether a report may show this variable. The list is closed: an environment holds secrets.
bool IsReportedVariable(const std::string& name);

// The processor's name from /proc/cpuinfo: "model name" where the kernel gives one (x86), otherwise
// the numbers of the Arm implementer and part; "unknown" when there is neither.
std::string CpuModel(std::istream& cpuinfo);

}  // namespace mailbench
