#include "src/lamport_all_gather/lamport_all_gather.h"

#include <limits>

#include "harness/error.h"
#include "kernels/lamport/layout.h"
#include "src/lamport_all_gather/algorithms.h"

namespace mailbench {
namespace {

constexpr AlgorithmInfo kAlgorithms[] = {
    {"lamport", "one kernel, no flags: a word that is no longer the sentinel has arrived"},
    {"mpi", "MPI_Allgather"},
};

const FlagInfo kFlags[] = {
    {"input",
     "how inputs lie in memory; a kernel that cannot read them in place copies them first",
     "aligned",
     {"aligned", "misaligned", "strided"}},
};

// Counts of MPI are ints, and inputs may be rows with gaps.
constexpr std::int64_t kMostBytes = std::numeric_limits<int>::max() / 2;

}  // namespace

std::span<const AlgorithmInfo> LamportAllGather::algorithms() const { return kAlgorithms; }
std::span<const FlagInfo> LamportAllGather::flags() const { return kFlags; }

std::vector<Shape> LamportAllGather::Shapes(const RunConfig& config, int ranks) const {
  std::vector<Shape> shapes;
  for (const std::int64_t bytes : config.bytes) {
    if (bytes > kMostBytes) {
      throw UsageError("bytes: " + std::to_string(bytes) + " is more than this collective takes, " +
                       std::to_string(kMostBytes) + " bytes a rank");
    }
    Shape shape;
    shape.variables = {{"bytes", bytes}};
    shape.bytes_per_rank = bytes;
    shape.bytes_total = bytes * ranks;
    shape.bus_factor = static_cast<double>(ranks - 1) / ranks;
    shapes.push_back(shape);
  }
  return shapes;
}

std::optional<std::string> LamportAllGather::UnsupportedReason(std::string_view algorithm,
                                                               const RunConfig& /*config*/,
                                                               const Site& site) const {
  if (algorithm == "lamport" && site.ranks > kMaxRanks) {
    return "it takes up to " + std::to_string(kMaxRanks) + " ranks, not " +
           std::to_string(site.ranks);
  }
  return std::nullopt;
}

std::unique_ptr<Instance> LamportAllGather::Create(std::string_view algorithm,
                                                   const InstanceContext& context) {
  return algorithm == "lamport" ? MakeLamport(context) : MakeMpi(context);
}

}  // namespace mailbench
