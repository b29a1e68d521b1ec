// The floor of a fabric as a binary: each of its kernels is an algorithm.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/collective.h"

namespace mailbench {

class FabricFloor : public Collective {
 public:
  std::string_view name() const override { return "fabric_floor"; }
  std::string_view summary() const override {
    return "what no collective of one kernel a call gets below: a kernel, a hop, a round of all";
  }
  std::span<const AlgorithmInfo> algorithms() const override;

  bool has_sizes() const override { return false; }
  bool has_floor() const override { return false; }  // it is the floor

  // One: a pack.
  std::vector<Shape> Shapes(const RunConfig& config, int ranks) const override;
  std::optional<std::string> UnsupportedReason(std::string_view algorithm, const RunConfig& config,
                                               const Site& site) const override;
  std::size_t SymmetricBytes(std::string_view algorithm, const RunConfig& config,
                             const Site& site) const override;
  std::unique_ptr<Instance> Create(std::string_view algorithm,
                                   const InstanceContext& context) override;
};

}  // namespace mailbench
