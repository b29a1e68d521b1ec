#include "src/lamport_all_gather/lamport_all_gather.h"

#include <iterator>
#include <limits>

#include "harness/error.h"
#include "harness/launch/executor.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/mailbox_gather.h"

namespace mailbench {
namespace {

constexpr AlgorithmInfo kGood[] = {
    {.name = "lamport",
     .summary = "one kernel, no flags: a word that is no longer the sentinel has arrived",
     .multicast = true,
     .traced = true},
    {.name = "overlapped",
     .summary = "the same mailbox; arrivals are counted while the packs are on their way",
     .multicast = true,
     .traced = true},
    {"nccl", "ncclAllGather"},
    {"nccl-symmetric", "ncclAllGather on symmetric windows"},
    {"mpi", "MPI_Allgather on host memory"},
};

// The good ones, then the known-bad ones.
std::vector<AlgorithmInfo> AllAlgorithms() {
  std::vector<AlgorithmInfo> all(std::begin(kGood), std::end(kGood));
  for (const MnnvlName& bad : kMnnvlNames) {
    all.push_back({.name = bad.name, .summary = bad.summary, .known_bad = true, .multicast = true});
  }
  return all;
}

const FlagInfo kFlags[] = {
    {"input",
     "how inputs lie in memory; a kernel that cannot read them in place copies them first",
     "aligned",
     {"aligned", "misaligned", "strided"}},
    {"arrival",
     "ordering of the atomic that counts a CTA's arrival in overlapped",
     "relaxed",
     {"relaxed", "acq_rel"}},
    {"trigger",
     "when overlapped lets the next call's grid be scheduled, on a GPU: after the wait for earlier "
     "grids, or after the publish",
     "wait",
     {"wait", "publish"}},
    {"alias-fence",
     "whether lamport and overlapped follow a multicast publish with fence.proxy.alias, on a GPU; "
     "on shows what that costs; other transports have nothing to fence",
     "off",
     {"on", "off"}},
    {"abort-check",
     "whether polls of mailboxes look at the abort word, on a GPU; off shows what that costs, and "
     "leaves a rank that is missing to the end of the process",
     "on",
     {"on", "off"}},
};

// Counts of MPI are ints, and inputs may be rows with gaps.
constexpr std::int64_t kMostBytes = std::numeric_limits<int>::max() / 2;

// Of the algorithms that gather through a mailbox of this project.
std::optional<GatherKind> MailboxKind(std::string_view algorithm) {
  if (algorithm == "lamport") return GatherKind::kLamport;
  if (algorithm == "overlapped") return GatherKind::kOverlapped;
  return std::nullopt;
}

}  // namespace

std::span<const AlgorithmInfo> LamportAllGather::algorithms() const {
  static const std::vector<AlgorithmInfo> all = AllAlgorithms();
  return all;
}
std::span<const FlagInfo> LamportAllGather::flags() const { return kFlags; }

std::vector<Shape> LamportAllGather::Shapes(const RunConfig& config, int ranks) const {
  constexpr std::int64_t kMostCapacity = kMostRankPacks * kPackBytes;
  if (config.capacity > kMostCapacity) {
    throw UsageError("capacity: " + std::to_string(config.capacity) +
                     " is more than a mailbox holds of one rank, " + std::to_string(kMostCapacity) +
                     " bytes");
  }
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
                                                               const RunConfig& config,
                                                               const Site& site) const {
  if (MailboxKind(algorithm) || MnnvlNamed(algorithm)) {
    if (site.ranks <= kMaxRanks) return std::nullopt;
    return "it takes up to " + std::to_string(kMaxRanks) + " ranks, not " +
           std::to_string(site.ranks);
  }
  if (algorithm == "mpi") {
    if (!site.on_gpu) return std::nullopt;
    return "it gathers host memory: it runs on transport host";
  }
  if (!site.on_gpu) return "it gathers GPU memory: it runs on transports unicast and multicast";
  if (!site.nccl_refusal.empty()) return site.nccl_refusal;
  if (algorithm != "nccl-symmetric") return std::nullopt;
  if (!site.windows_refusal.empty()) return site.windows_refusal;
  if (config.own.at("input") != "aligned") return "its windows hold aligned inputs only";
  return std::nullopt;
}

std::optional<std::string> LamportAllGather::UnsupportedShape(std::string_view algorithm,
                                                              const Shape& shape,
                                                              const RunConfig& config,
                                                              const Site& site) const {
  if (!site.on_gpu) return std::nullopt;
  std::string refusal;
  if (const std::optional<GatherKind> kind = MailboxKind(algorithm)) {
    refusal = GpuGatherRefusal(*kind, shape, config, site);
  } else if (const std::optional<MnnvlVariant> variant = MnnvlNamed(algorithm)) {
    refusal = GpuMnnvlRefusal(*variant, shape, config, site);
  }
  if (refusal.empty()) return std::nullopt;
  return refusal;
}

std::size_t LamportAllGather::SymmetricBytes(std::string_view algorithm, const RunConfig& config,
                                             const Site& site) const {
  if (!MailboxKind(algorithm) && !MnnvlNamed(algorithm)) return 0;
  return static_cast<std::size_t>(MailboxOf(config, site.ranks).bytes());
}

// On GPUs every instance has room to copy an input that cannot be read in place.
std::size_t LamportAllGather::BufferBytes(std::string_view /*algorithm*/,
                                          std::span<const Shape> shapes, const RunConfig& config,
                                          const Site& site) const {
  const InputLayout layout = ParseInputLayout(config.own.at("input"));
  const GatherBytes bytes = BytesOf(shapes, layout, site.ranks);
  const std::size_t staging = site.on_gpu ? static_cast<std::size_t>(bytes.most) : 0;
  return bytes.inputs + bytes.outputs + staging;
}

std::unique_ptr<Instance> LamportAllGather::Create(std::string_view algorithm,
                                                   const InstanceContext& context) {
  if (const std::optional<GatherKind> kind = MailboxKind(algorithm)) {
    return context.executor.gpu() != nullptr ? MakeGpuGather(context, *kind)
                                             : MakeHostGather(context, *kind);
  }
  if (const std::optional<MnnvlVariant> variant = MnnvlNamed(algorithm)) {
    return context.executor.gpu() != nullptr ? MakeGpuMnnvl(context, *variant)
                                             : MakeHostMnnvl(context, *variant);
  }
  if (algorithm == "nccl") return MakeNccl(context);
  if (algorithm == "nccl-symmetric") return MakeNcclSymmetric(context);
  return MakeMpi(context);
}

}  // namespace mailbench
