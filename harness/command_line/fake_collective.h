// A collective that exists on paper only, for tests of the command line.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/collective.h"

namespace mailbench {

class FakeCollective : public Collective {
 public:
  std::string_view name() const override { return "fake_gather"; }
  std::string_view summary() const override { return "Gathers nothing."; }
  std::span<const AlgorithmInfo> algorithms() const override { return algorithms_; }
  std::span<const FlagInfo> flags() const override { return flags_; }
  bool has_sizes() const override { return has_sizes_; }
  std::vector<Shape> Shapes(const RunConfig& /*config*/, int /*ranks*/) const override {
    return {};
  }
  std::optional<std::string> UnsupportedReason(std::string_view /*algorithm*/,
                                               const RunConfig& /*config*/,
                                               const Site& /*site*/) const override {
    return std::nullopt;
  }
  std::unique_ptr<Instance> Create(std::string_view /*algorithm*/,
                                   const InstanceContext& /*context*/) override {
    return nullptr;
  }

  std::vector<AlgorithmInfo>& mutable_algorithms() { return algorithms_; }
  std::vector<FlagInfo>& mutable_flags() { return flags_; }
  void HasNoSizes() { has_sizes_ = false; }

 private:
  std::vector<AlgorithmInfo> algorithms_ = {
      {.name = "lamport", .summary = "the subject", .traced = true},
      {"mpi", "the library's", false},
      {"torn", "wrong", true}};
  std::vector<FlagInfo> flags_ = {{"parity", "mailbox generations", "3", {"2", "3"}},
                                  {"label", "any text", "none", {}}};
  bool has_sizes_ = true;
};

}  // namespace mailbench
