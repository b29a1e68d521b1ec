#include "src/lamport_all_gather/gather_buffers.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "harness/error.h"
#include "harness/ranks/vote_on.h"
#include "harness/validate/comparison.h"
#include "harness/validate/origin.h"
#include "harness/validate/payload.h"
#include "harness/validate/reference.h"
#include "kernels/lamport/layout.h"
#include "src/lamport_all_gather/gather_verifier.h"

namespace mailbench {
namespace {

constexpr Pack kPoisonPack{{kPoison, kPoison, kPoison, kPoison}};
constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kMisalignment = 4;
constexpr std::int64_t kRowGap = 16;
// Payloads of so many calls are searched for a wrong value, the newest first; of fewer where calls
// are large, so that it takes a fraction of a second.
constexpr std::uint64_t kCallsSearched = 256;
constexpr std::uint64_t kWordsSearched = std::uint64_t{1} << 26;

std::uint64_t CallsToSearch(std::uint64_t words_of_a_call) {
  return std::clamp<std::uint64_t>(kWordsSearched / words_of_a_call, 4, kCallsSearched);
}

// Slots do not share lines.
std::size_t Padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// Room for either layout: a pack more for misalignment, a gap after each row of a pack or more.
std::size_t InputPacks(std::int64_t bytes, InputLayout layout) {
  const auto packs = static_cast<std::size_t>(bytes / kPackBytes);
  return layout == InputLayout::kAligned ? packs : 2 * packs + 1;
}

std::size_t InputBytes(const Shape& shape, InputLayout layout) {
  return Padded(InputPacks(shape.bytes_per_rank, layout) * kPackBytes);
}

std::size_t OutputBytes(const Shape& shape, int ranks) {
  return Padded(static_cast<std::size_t>(ranks * shape.bytes_per_rank));
}

}  // namespace

GatherBytes BytesOf(std::span<const Shape> shapes, InputLayout layout, int ranks) {
  GatherBytes bytes;
  for (const Shape& shape : shapes) {
    bytes.inputs += InputBytes(shape, layout);
    bytes.outputs += OutputBytes(shape, ranks);
    bytes.most = std::max(bytes.most, shape.bytes_per_rank);
  }
  return bytes;
}

InputLayout ParseInputLayout(std::string_view name) {
  if (name == "misaligned") return InputLayout::kMisaligned;
  if (name == "strided") return InputLayout::kStrided;
  return InputLayout::kAligned;
}

GatherBuffers::GatherBuffers(const InstanceContext& context, WordRule rule, WordRule own_rule)
    : context_(context),
      rule_(rule),
      own_rule_(own_rule),
      layout_(ParseInputLayout(context.config.own.at("input"))) {}

std::unique_ptr<Buffer> GatherBuffers::TakeMemory(std::size_t bytes) {
  std::unique_ptr<Buffer> memory;
  VoteOn(ranks(), ExitCode::kMachine, [&] { memory = context_.executor.Allocate(bytes); });
  return memory;
}

void GatherBuffers::GiveBack(std::unique_ptr<Buffer> /*memory*/) {}

void GatherBuffers::Free() {
  if (inputs_) GiveBack(std::move(inputs_));
  if (outputs_) GiveBack(std::move(outputs_));
}

void GatherBuffers::Bind(std::span<const Shape> shapes) {
  GatherBuffers::Free();  // gives the memory back before the new is taken
  inputs_enqueued_ = 0;
  inputs_copied_ = 0;
  slots_.clear();
  std::size_t input = 0;
  std::size_t output = 0;
  for (const Shape& shape : shapes) {
    slots_.push_back({shape.bytes_per_rank, 0, input, output});
    input += InputBytes(shape, layout_);
    output += OutputBytes(shape, ranks().size());
  }
  const GatherBytes bytes = BytesOf(shapes, layout_, ranks().size());
  most_bytes_ = bytes.most;
  inputs_ = TakeMemory(bytes.inputs);
  outputs_ = TakeMemory(bytes.outputs);
}

void GatherBuffers::CountInput(bool copied) {
  ++inputs_enqueued_;
  if (copied) ++inputs_copied_;
}

double GatherBuffers::input_copies_per_call() const {
  if (inputs_enqueued_ == 0) return 0;
  return static_cast<double>(inputs_copied_) / static_cast<double>(inputs_enqueued_);
}

std::byte* GatherBuffers::InputMemory(const Slot& slot) const {
  return inputs_->data() + slot.input;
}

GatherInput GatherBuffers::input(int slot) const {
  return InputIn(InputMemory(slots_[static_cast<std::size_t>(slot)]), bytes(slot));
}

GatherInput GatherBuffers::InputIn(const std::byte* memory, std::int64_t bytes) const {
  switch (layout_) {
    case InputLayout::kAligned:
      break;
    case InputLayout::kMisaligned:
      return {memory + kMisalignment, 1, bytes, bytes};
    case InputLayout::kStrided: {
      const std::int64_t row = bytes % 64 == 0 ? 64 : kPackBytes;
      return {memory, bytes / row, row, row + kRowGap};
    }
  }
  return {memory, 1, bytes, bytes};
}

Pack* GatherBuffers::output(int slot) const {
  return reinterpret_cast<Pack*>(outputs_->data() + slots_[static_cast<std::size_t>(slot)].output);
}

void GatherBuffers::Fill(int slot, std::uint64_t call) {
  Slot& filled = slots_[static_cast<std::size_t>(slot)];
  filled.call = call;
  const auto words = static_cast<std::size_t>(filled.bytes / kWordBytes);
  payload_.resize(words);
  FillPayload(payload_, context_.config.seed, call, ranks().rank());
  image_.assign(InputPacks(filled.bytes, layout_), kPoisonPack);
  const GatherInput to = InputIn(reinterpret_cast<const std::byte*>(image_.data()), filled.bytes);
  const auto* from = reinterpret_cast<const std::byte*>(payload_.data());
  for (std::int64_t row = 0; row < to.rows; ++row) {
    std::memcpy(const_cast<std::byte*>(to.data) + row * to.row_stride, from + row * to.row_bytes,
                static_cast<std::size_t>(to.row_bytes));
  }
  context_.executor.CopyIn(InputMemory(filled), std::as_bytes(std::span(image_)));
  context_.executor.FillWords(reinterpret_cast<std::byte*>(output(slot)), kPoison,
                              words * static_cast<std::size_t>(ranks().size()));
}

CheckResult GatherBuffers::Check(int slot) {
  const Slot& checked = slots_[static_cast<std::size_t>(slot)];
  payload_.resize(static_cast<std::size_t>(checked.bytes / kWordBytes));
  reference_.resize(payload_.size() * static_cast<std::size_t>(ranks().size()));
  FillPayload(payload_, context_.config.seed, checked.call, ranks().rank());
  context_.reference.AllGather(payload_, reference_);
  auto word = reference_.begin();
  for (int source = 0; source < ranks().size(); ++source) {
    const WordRule rule = RuleOf(source);
    for (std::size_t i = 0; i < payload_.size(); ++i, ++word) *word = rule.Arriving(*word);
  }
  seen_.resize(reference_.size());
  context_.executor.CopyOut(std::as_writable_bytes(std::span(seen_)),
                            outputs_->data() + checked.output);
  const Comparison comparison = CompareWords(reference_, seen_);
  CheckResult result;
  result.calls = 1;
  result.compared = comparison.compared;
  result.mismatches = comparison.mismatches;
  if (comparison.mismatches > 0) result.first = Explain(checked, comparison.first);
  return result;
}

std::unique_ptr<CallVerifier> GatherBuffers::MakeVerifier(std::span<const int> batches) {
  CheckedBatch common;
  common.rank = ranks().rank();
  common.ranks = ranks().size();
  common.rule = rule_;
  common.own_rule = own_rule_;
  common.seed = context_.config.seed;
  std::vector<CheckedCall> calls;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    const GatherInput from = input(static_cast<int>(slot));
    CheckedCall& call = calls.emplace_back();
    call.input = const_cast<std::byte*>(from.data);
    call.output = output(static_cast<int>(slot));
    call.packs = from.bytes() / kPackBytes;
    call.row_bytes = from.row_bytes;
    call.row_stride = from.row_stride;
  }
  std::unique_ptr<CallVerifier> verifier;
  VoteOn(ranks(), ExitCode::kMachine, [&] {
    verifier = std::make_unique<GatherVerifier>(context_.executor, common, calls, batches,
                                                [this](WrongWord* wrong) { FindOrigin(wrong); });
  });
  return verifier;
}

WordRule GatherBuffers::RuleOf(int source) const {
  return source == ranks().rank() ? own_rule_ : rule_;
}

std::string GatherBuffers::Explain(const Slot& slot, std::uint64_t word) const {
  const auto words = static_cast<std::uint64_t>(slot.bytes / kWordBytes);
  WrongWord wrong;
  wrong.call = slot.call;
  wrong.rank = ranks().rank();
  wrong.source = static_cast<int>(word / words);
  wrong.pack = static_cast<std::int64_t>(word % words / kPackWords);
  wrong.word = static_cast<int>(word % kPackWords);
  wrong.expected = reference_[word];
  std::copy_n(seen_.begin() + static_cast<std::ptrdiff_t>(word - word % kPackWords),
              wrong.seen.size(), wrong.seen.begin());
  FindOrigin(&wrong);
  return Describe(wrong);
}

void GatherBuffers::FindOrigin(WrongWord* wrong) const {
  const auto word = static_cast<std::size_t>(wrong->word);
  const WordRule rule = RuleOf(wrong->source);
  const bool sentinel_is_sent = rule.Arriving(kSentinel) == kSentinel;
  if (wrong->seen[word] == kPoison) {
    wrong->origin = "which was there before the call";
  } else if (wrong->seen[word] == kSentinel && !sentinel_is_sent) {
    wrong->origin = "the sentinel: nothing had arrived";
  } else {
    // An earlier call may have been larger than those that are bound.
    const auto words = static_cast<std::uint64_t>(context_.config.capacity / kWordBytes);
    wrong->origin =
        DescribeOrigin(wrong->seen, word,
                       {.seed = context_.config.seed,
                        .newest_call = wrong->call + 1,  // a peer may be a call ahead
                        .calls = CallsToSearch(words * static_cast<std::uint64_t>(ranks().size())),
                        .ranks = ranks().size(),
                        .words_per_rank = words,
                        .map = [rule](std::uint32_t sent) { return rule.Arriving(sent); }});
  }
}

}  // namespace mailbench
