#include "harness/ranks/rank_and_host.h"

#include <mpi.h>
#include <unistd.h>

#include <array>

#include "harness/ranks/launcher.h"

namespace mailbench {
namespace {

thread_local int rank_of_thread = -1;

bool MpiRuns() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && MPI_Finalized(&ended) == MPI_SUCCESS &&
         started != 0 && ended == 0;
}

std::string Named(int rank, const std::string& host) {
  return "rank " + std::to_string(rank) + " on " + host;
}

}  // namespace

void NameThisThread(int rank) { rank_of_thread = rank; }

std::string RankAndHost() {
  int rank = 0;
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  if (MpiRuns() && MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS &&
      MPI_Get_processor_name(host.data(), &length) == MPI_SUCCESS) {
    return Named(rank_of_thread < 0 ? rank : rank_of_thread,
                 {host.data(), static_cast<std::size_t>(length)});
  }
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) name = {"an unknown host"};
  return Named(rank_of_thread < 0 ? ReadLauncherEnvironment().rank : rank_of_thread, name.data());
}

}  // namespace mailbench
