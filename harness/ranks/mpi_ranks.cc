#include "harness/ranks/mpi_ranks.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>

#include "harness/ranks/launcher.h"
#include "harness/ranks/mpi_error.h"

namespace mailbench {
namespace {

std::string ProcessorName() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MAILBENCH_MPI(MPI_Get_processor_name(name.data(), &length));
  return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace

MpiRanks::MpiRanks(int* argc, char*** argv) {
  const LauncherFacts launcher = ReadLauncherEnvironment();
  int provided = MPI_THREAD_SINGLE;
  MAILBENCH_MPI(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided));
  MAILBENCH_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw SystemError("MPI_Init_thread: this MPI does not provide MPI_THREAD_FUNNELED");
  }
  int rank = 0;
  int size = 1;
  MAILBENCH_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  MAILBENCH_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  if (const std::string why = size == 1 ? WhyNotAlone(launcher) : ""; !why.empty()) {
    MPI_Finalize();
    throw MachineError(why);
  }
  Introduce(rank, size);
  // A communicator of its own: what the measured collectives do on theirs cannot be mistaken for
  // the harness's messages.
  MAILBENCH_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm_));
  MAILBENCH_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  SetHosts(Gather(ProcessorName()));
}

MpiRanks::~MpiRanks() {
  if (!finalized_ && std::uncaught_exceptions() == 0) {
    std::fprintf(stderr, "mailbench: rank %d leaves without having called MpiRanks::Finalize\n",
                 rank());
  }
}

void MpiRanks::Meet() const { MAILBENCH_MPI(MPI_Barrier(comm_)); }

void MpiRanks::MeetWithBytes(std::span<const std::byte> own, std::span<std::byte> all) const {
  const int count = static_cast<int>(own.size());
  MAILBENCH_MPI(MPI_Allgather(own.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_));
}

std::vector<std::string> MpiRanks::MeetWithText(const std::string& own) const {
  const auto count = static_cast<std::size_t>(size());
  // Lengths travel at full width, so that every rank refuses alike what MPI's int cannot count.
  const std::uint64_t length = own.size();
  std::vector<std::uint64_t> wide(count);
  MAILBENCH_MPI(MPI_Allgather(&length, 1, MPI_UINT64_T, wide.data(), 1, MPI_UINT64_T, comm_));
  const std::uint64_t total = std::accumulate(wide.begin(), wide.end(), std::uint64_t{0});
  if (total > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    throw SystemError("Ranks::Gather: the texts of all ranks together have " +
                      std::to_string(total) + " bytes, more than MPI can count");
  }
  const std::vector<int> lengths(wide.begin(), wide.end());
  std::vector<int> offsets(count, 0);
  std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(total), '\0');
  MAILBENCH_MPI(MPI_Allgatherv(own.data(), static_cast<int>(length), MPI_CHAR, all.data(),
                               lengths.data(), offsets.data(), MPI_CHAR, comm_));
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                               static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

void MpiRanks::Finalize() {
  MAILBENCH_MPI(MPI_Comm_free(&comm_));
  finalized_ = true;
  MAILBENCH_MPI(MPI_Finalize());
}

}  // namespace mailbench
