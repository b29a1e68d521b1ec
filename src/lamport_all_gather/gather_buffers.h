// Inputs and outputs of a gather's calls in flight, and the comparison with the reference: what
// every algorithm of an all-gather shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/launch/executor.h"
#include "harness/validate/wrong_word.h"
#include "kernels/lamport/gather_input.h"
#include "kernels/machine/pack.h"
#include "kernels/stress/gather_check.h"

namespace mailbench {

// How inputs lie in memory: --input.
enum class InputLayout {
  kAligned,     // contiguous, 16-byte aligned: read in place
  kMisaligned,  // contiguous, 4 bytes off
  kStrided,     // rows with a gap of 16 bytes after each
};
// REQUIRES: one of the values of --input.
InputLayout ParseInputLayout(std::string_view name);

// What the inputs and the outputs of calls in flight take, a slot a shape.
struct GatherBytes {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::int64_t most = 0;  // a rank, in any one of the calls
};
GatherBytes BytesOf(std::span<const Shape> shapes, InputLayout layout, int ranks);

class GatherBuffers : public Instance {
 public:
  // `rule`: what the algorithm does to a payload word on its way; `own_rule`: to one of the rank's
  // own, which may take another way.
  GatherBuffers(const InstanceContext& context, WordRule rule, WordRule own_rule);
  // Words arrive as they were sent.
  explicit GatherBuffers(const InstanceContext& context) : GatherBuffers(context, {}, {}) {}

  void Bind(std::span<const Shape> shapes) override;
  void Fill(int slot, std::uint64_t call) override;
  // Compares with what context.reference makes of the payloads, as they arrive.
  CheckResult Check(int slot) override;
  std::unique_ptr<CallVerifier> MakeVerifier(std::span<const int> batches) override;
  double input_copies_per_call() const override;
  void Free() override;

 protected:
  // For Enqueue to say whether the call copies its input first.
  void CountInput(bool copied);

  // Memory for the inputs or the outputs of all slots, and back. Collective; the same size on every
  // rank. Throws the same Error on every rank when it fails on any.
  virtual std::unique_ptr<Buffer> TakeMemory(std::size_t bytes);
  virtual void GiveBack(std::unique_ptr<Buffer> memory);

  GatherInput input(int slot) const;
  Pack* output(int slot) const;
  // A rank: of the slot's calls, and the most of any slot.
  std::int64_t bytes(int slot) const { return slots_[static_cast<std::size_t>(slot)].bytes; }
  std::int64_t most_bytes() const { return most_bytes_; }
  const InstanceContext& context() const { return context_; }
  const Ranks& ranks() const { return context_.ranks; }

 private:
  struct Slot {
    std::int64_t bytes = 0;  // a rank
    std::uint64_t call = 0;  // that it was filled for
    std::size_t input = 0;   // where its input is in inputs_
    std::size_t output = 0;  // where its output is in outputs_: [ranks][packs]
  };

  // `memory`: the slot's, or an image of it.
  GatherInput InputIn(const std::byte* memory, std::int64_t bytes) const;
  std::byte* InputMemory(const Slot& slot) const;
  WordRule RuleOf(int source) const;
  std::string Explain(const Slot& slot, std::uint64_t word) const;
  void FindOrigin(WrongWord* wrong) const;

  InstanceContext context_;
  WordRule rule_;
  WordRule own_rule_;
  InputLayout layout_;
  std::int64_t most_bytes_ = 0;
  std::uint64_t inputs_enqueued_ = 0;  // since Bind
  std::uint64_t inputs_copied_ = 0;
  std::vector<Slot> slots_;
  std::unique_ptr<Buffer> inputs_;   // by slot, in the layout that --input asks for
  std::unique_ptr<Buffer> outputs_;  // by slot, each aligned
  // In host memory, sized for the slot that was last looked at.
  std::vector<Pack> image_;  // of the input
  std::vector<std::uint32_t> payload_;
  std::vector<std::uint32_t> reference_;
  std::vector<std::uint32_t> seen_;  // the output
};

}  // namespace mailbench
