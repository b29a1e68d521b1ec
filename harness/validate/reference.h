// What results are compared with: a collective done by somebody else, on payloads in host memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mailbench {

class Ranks;

class Reference {
 public:
  virtual ~Reference() = default;
  virtual std::string_view name() const = 0;  // "mpi", "nccl"
  // all[ranks][own.size()], by rank. Collective. REQUIRES: as many words on every rank.
  virtual void AllGather(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) = 0;
};

class MpiReference : public Reference {
 public:
  explicit MpiReference(const Ranks& ranks) : ranks_(ranks) {}
  std::string_view name() const override { return "mpi"; }
  void AllGather(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) override;

 private:
  const Ranks& ranks_;
};

}  // namespace mailbench
