#include "src/fabric_floor/fabric_floor.h"

#include <cstdint>

#include "harness/floor/floor_probe.h"
#include "harness/floor/measure_floor.h"
#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

constexpr AlgorithmInfo kAlgorithms[] = {
    {.name = "publish-to-all",
     .summary = "a pack to every rank, until one from every rank is seen",
     .multicast = true},
    {.name = "hop", .summary = "one way from a store to the poll that sees it, ranks in pairs"},
    {.name = "empty-kernel", .summary = "a kernel that waits for the one before, and no more"},
};

FloorKind KindOf(std::string_view algorithm) {
  if (algorithm == "hop") return FloorKind::kHop;
  return algorithm == "empty-kernel" ? FloorKind::kEmptyKernel : FloorKind::kPublishToAll;
}

class FloorInstance : public Instance {
 public:
  FloorInstance(FloorKind kind, const InstanceContext& context)
      : kind_(kind),
        rounds_(kind == FloorKind::kEmptyKernel ? 1 : FloorRounds(context.executor)),
        probe_(context.memory, context.executor) {
    context.ranks.Barrier();
  }

  void Bind(std::span<const Shape> /*shapes*/) override {}
  void Fill(int /*slot*/, std::uint64_t /*call*/) override {}
  void Enqueue(int /*slot*/) override { probe_.Enqueue(kind_, rounds_); }
  CheckResult Check(int /*slot*/) override { return probe_.Check(kind_); }
  int repeats() const override { return kind_ == FloorKind::kHop ? 2 * rounds_ : rounds_; }

 private:
  const FloorKind kind_;
  const int rounds_;
  FloorProbe probe_;
};

}  // namespace

std::span<const AlgorithmInfo> FabricFloor::algorithms() const { return kAlgorithms; }

std::vector<Shape> FabricFloor::Shapes(const RunConfig& /*config*/, int ranks) const {
  Shape shape;
  shape.variables = {{"bytes", kPackBytes}};
  shape.bytes_per_rank = kPackBytes;
  shape.bytes_total = std::int64_t{kPackBytes} * ranks;
  shape.bus_factor = static_cast<double>(ranks - 1) / ranks;
  return {shape};
}

std::optional<std::string> FabricFloor::UnsupportedReason(std::string_view algorithm,
                                                          const RunConfig& /*config*/,
                                                          const Site& site) const {
  if (site.ranks > kMaxRanks) {
    return "it takes up to " + std::to_string(kMaxRanks) + " ranks, not " +
           std::to_string(site.ranks);
  }
  if (algorithm == "hop" && site.ranks == 1) return "a hop takes two ranks";
  return std::nullopt;
}

std::size_t FabricFloor::SymmetricBytes(std::string_view /*algorithm*/, const RunConfig& /*config*/,
                                        const Site& site) const {
  return FloorProbe::Bytes(site.ranks);
}

std::unique_ptr<Instance> FabricFloor::Create(std::string_view algorithm,
                                              const InstanceContext& context) {
  return std::make_unique<FloorInstance>(KindOf(algorithm), context);
}

}  // namespace mailbench
