// For tests: a collective of two algorithms that exists on paper, and plans of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/run/points.h"

namespace mailbench {

class ToyGather : public Collective {
 public:
  std::string_view name() const override { return "toy"; }
  std::string_view summary() const override { return "a collective for tests"; }
  std::span<const AlgorithmInfo> algorithms() const override { return kAlgorithms; }
  std::vector<Shape> Shapes(const RunConfig& config, int ranks) const override {
    std::vector<Shape> shapes;
    for (const std::int64_t bytes : config.bytes) {
      shapes.push_back({{{"bytes", bytes}}, bytes, bytes * ranks, 1});
    }
    return shapes;
  }
  std::optional<std::string> UnsupportedReason(std::string_view /*algorithm*/,
                                               const RunConfig& /*config*/,
                                               const Site& /*site*/) const override {
    return std::nullopt;
  }
  // Not a multiple of what regions are aligned to.
  std::size_t SymmetricBytes(std::string_view algorithm, const RunConfig& config,
                             const Site& site) const override {
    if (algorithm != "mailbox") return 0;
    return static_cast<std::size_t>(config.capacity * site.ranks) + 1;
  }
  // Inputs and outputs, each rounded up.
  std::size_t BufferBytes(std::string_view /*algorithm*/, std::span<const Shape> shapes,
                          const RunConfig& /*config*/, const Site& /*site*/) const override {
    const auto padded = [](std::int64_t bytes) {
      return static_cast<std::size_t>((bytes + 255) / 256 * 256);
    };
    std::size_t bytes = 0;
    for (const Shape& shape : shapes) {
      bytes += padded(shape.bytes_per_rank) + padded(shape.bytes_total);
    }
    return bytes;
  }
  std::unique_ptr<Instance> Create(std::string_view /*algorithm*/,
                                   const InstanceContext& /*context*/) override {
    return nullptr;
  }

 private:
  static constexpr AlgorithmInfo kAlgorithms[] = {{"mailbox", "one"}, {"plain", "two"}};
};

inline Site ToySite(int ranks, bool on_gpu = false) {
  Site site;
  site.transport = on_gpu ? "unicast" : "host";
  site.ranks = ranks;
  site.on_gpu = on_gpu;
  return site;
}

inline RunConfig ToyConfig(std::vector<std::int64_t> bytes) {
  RunConfig config;
  config.bytes = std::move(bytes);
  config.capacity = config.bytes.back();
  config.replays = config.iters;
  return config;
}

}  // namespace mailbench
