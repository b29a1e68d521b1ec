// What the harness makes of the hosts of a run, for two_hosts_test.py: one line of JSON a rank,
// {"rank": R, "hosts": as in a report, "ranks_here": those that share memory, "fds": why file
// descriptors cannot be exchanged}.
//
// usage: two_hosts_test_program
#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include "harness/file_descriptor.h"
#include "harness/memory/fd_exchange.h"
#include "harness/ranks/mpi_ranks.h"
#include "harness/report/environment_json.h"
#include "harness/watchdog/run_board.h"

namespace mailbench {
namespace {

std::string FdRefusal(const Ranks& ranks) {
  const FileDescriptor fd(memfd_create("two_hosts_test", MFD_CLOEXEC));
  try {
    ExchangeFds(ranks, fd.get(), std::chrono::seconds(10));
    return "";
  } catch (const MachineError& error) {
    return error.what();
  }
}

void Run(int* argc, char*** argv) {
  MpiRanks ranks(argc, argv);
  RunBoard board(ranks);
  const Json line = {
      {"rank", ranks.rank()},
      {"hosts", EnvironmentJson(GatherEnvironment(ranks.hosts(), "host", {})).at("hosts")},
      {"ranks_here", board.view().ranks},
      {"fds", FdRefusal(ranks)}};
  std::printf("%s\n", line.dump().c_str());
  board.Free();
  ranks.Finalize();
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  try {
    mailbench::Run(&argc, &argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
