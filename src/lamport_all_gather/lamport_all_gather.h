// The collective of this binary, as the harness sees it.
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

class LamportAllGather : public Collective {
 public:
  std::string_view name() const override { return "lamport_all_gather"; }
  std::string_view summary() const override {
    return "all-gather of small inputs through Lamport mailboxes";
  }
  std::span<const AlgorithmInfo> algorithms() const override;
  std::span<const FlagInfo> flags() const override;

  std::vector<Shape> Shapes(const RunConfig& config, int ranks) const override;
  std::optional<std::string> UnsupportedReason(std::string_view algorithm, const RunConfig& config,
                                               const Site& site) const override;
  std::optional<std::string> UnsupportedShape(std::string_view algorithm, const Shape& shape,
                                              const RunConfig& config,
                                              const Site& site) const override;
  std::size_t SymmetricBytes(std::string_view algorithm, const RunConfig& config,
                             const Site& site) const override;
  std::size_t BufferBytes(std::string_view algorithm, std::span<const Shape> shapes,
                          const RunConfig& config, const Site& site) const override;
  std::unique_ptr<Instance> Create(std::string_view algorithm,
                                   const InstanceContext& context) override;
};

}  // namespace mailbench
