#include "harness/ranks/ranks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>

#include "harness/ranks/mpi_error.h"

namespace mailbench {
namespace {

[[noreturn]] void ThrowTyped(ExitCode code, const std::string& text) {
  switch (code) {
    case ExitCode::kUsage:
      throw UsageError(text);
    case ExitCode::kMachine:
      throw MachineError(text);
    case ExitCode::kFailed:
      throw SystemError(text);
    case ExitCode::kPassed:
    case ExitCode::kHung:
    case ExitCode::kWrong:
      break;
  }
  throw Error(code, text);
}

std::string ProcessorName() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MAILBENCH_MPI(MPI_Get_processor_name(name.data(), &length));
  return {name.data(), static_cast<std::size_t>(length)};
}

}  // namespace

Ranks::Ranks(int* argc, char*** argv) {
  const LauncherFacts launcher = ReadLauncherEnvironment();
  int provided = MPI_THREAD_SINGLE;
  MAILBENCH_MPI(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided));
  MAILBENCH_MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw SystemError("MPI_Init_thread: this MPI does not provide MPI_THREAD_FUNNELED");
  }
  MAILBENCH_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
  MAILBENCH_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size_));
  if (launcher.size > 1 && size_ == 1) {
    MPI_Finalize();
    throw MachineError("the launcher started " + std::to_string(launcher.size) +
                       " processes, but MPI sees one: use the launcher of the MPI library that "
                       "this program was built with");
  }
  // A communicator of its own: what the measured collectives do on theirs cannot be mistaken for
  // the harness's messages.
  MAILBENCH_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm_));
  MAILBENCH_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  hosts_ = Gather(ProcessorName());
}

Ranks::~Ranks() {
  if (!finalized_ && std::uncaught_exceptions() == 0) {
    std::fprintf(stderr, "mailbench: rank %d leaves without having called Ranks::Finalize\n",
                 rank_);
  }
}

bool Ranks::one_host() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [this](const std::string& host) { return host == hosts_.front(); });
}

void Ranks::Meet() const {
  if (on_meeting_) {
    on_meeting_();
  }
}

void Ranks::Barrier() const {
  Meet();
  MAILBENCH_MPI(MPI_Barrier(comm_));
}

double Ranks::Max(double value) const {
  Meet();
  double result = 0;
  MAILBENCH_MPI(MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, comm_));
  return result;
}

std::vector<double> Ranks::Gather(double value) const {
  Meet();
  std::vector<double> values(static_cast<std::size_t>(size_));
  MAILBENCH_MPI(MPI_Allgather(&value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, comm_));
  return values;
}

void Ranks::GatherWords(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) const {
  Meet();
  const int count = static_cast<int>(own.size());
  MAILBENCH_MPI(
      MPI_Allgather(own.data(), count, MPI_UINT32_T, all.data(), count, MPI_UINT32_T, comm_));
}

std::vector<std::string> Ranks::Gather(const std::string& text) const {
  Meet();
  const auto count = static_cast<std::size_t>(size_);
  // Lengths travel at full width, so that every rank refuses alike what MPI's int cannot count.
  const std::uint64_t length = text.size();
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
  MAILBENCH_MPI(MPI_Allgatherv(text.data(), static_cast<int>(length), MPI_CHAR, all.data(),
                               lengths.data(), offsets.data(), MPI_CHAR, comm_));
  std::vector<std::string> texts;
  texts.reserve(count);
  for (std::size_t rank = 0; rank < count; ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                               static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

void Ranks::Vote(ExitCode code, const std::string& error) const {
  if (error.empty()) {
    code = ExitCode::kPassed;
  } else if (code == ExitCode::kPassed) {
    code = ExitCode::kFailed;
  }
  Meet();
  const int own = static_cast<int>(code);
  std::vector<int> codes(static_cast<std::size_t>(size_));
  MAILBENCH_MPI(MPI_Allgather(&own, 1, MPI_INT, codes.data(), 1, MPI_INT, comm_));
  ExitCode worst = ExitCode::kPassed;
  for (const int each : codes) {
    worst = Worse(worst, static_cast<ExitCode>(each));
  }
  if (worst == ExitCode::kPassed) {
    return;
  }
  const std::vector<std::string> texts = Gather(error);
  const auto lowest = static_cast<std::size_t>(
      std::find(codes.begin(), codes.end(), static_cast<int>(worst)) - codes.begin());
  const std::string& text = texts[lowest];
  if (std::all_of(texts.begin(), texts.end(),
                  [&text](const std::string& other) { return other == text; })) {
    ThrowTyped(worst, text);
  }
  const std::string host = one_host() ? "" : " on " + hosts_[lowest];
  ThrowTyped(worst, "rank " + std::to_string(lowest) + host + ": " + text);
}

void Ranks::Finalize() {
  MAILBENCH_MPI(MPI_Comm_free(&comm_));
  finalized_ = true;
  MAILBENCH_MPI(MPI_Finalize());
}

}  // namespace mailbench
