// Inputs and outputs of a gather's calls in flight, and the comparison with the reference: what
// every algorithm of an all-gather shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/validate/origin.h"
#include "kernels/lamport/gather_input.h"
#include "kernels/machine/pack.h"

namespace mailbench {

// How inputs lie in memory: --input.
enum class InputLayout {
  kAligned,     // contiguous, 16-byte aligned: read in place
  kMisaligned,  // contiguous, 4 bytes off
  kStrided,     // rows with a gap of 16 bytes after each
};
// REQUIRES: one of the values of --input.
InputLayout ParseInputLayout(std::string_view name);

class GatherBuffers : public Instance {
 public:
  // `map`: what the algorithm does to a payload word on its way.
  GatherBuffers(const InstanceContext& context, WordMap map);

  void Bind(const Shape& shape, int slots) override;
  void Fill(int slot, std::uint64_t call) override;
  // The reference is what MPI_Allgather makes of the payloads, mapped.
  CheckResult Check(int slot) override;

 protected:
  GatherInput input(int slot) const;
  Pack* output(int slot);
  const Ranks& ranks() const { return context_.ranks; }

 private:
  struct Slot {
    std::uint64_t call = 0;
    std::vector<Pack> input;   // in the layout that --input asks for
    std::vector<Pack> output;  // [ranks][packs]
  };

  std::string Explain(const Slot& slot, std::uint64_t word, std::uint32_t expected) const;

  InstanceContext context_;
  WordMap map_;
  InputLayout layout_;
  std::int64_t bytes_ = 0;
  std::uint64_t newest_call_ = 0;  // that any slot was filled for
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> payload_;
  std::vector<std::uint32_t> reference_;
};

}  // namespace mailbench
