#include "src/lamport_all_gather/gather_buffers.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "harness/error.h"
#include "harness/ranks/vote_on.h"
#include "harness/validate/comparison.h"
#include "harness/validate/payload.h"
#include "harness/validate/reference.h"
#include "kernels/lamport/layout.h"

namespace mailbench {
namespace {

constexpr std::uint32_t kPoison = 0xdeadbeefu;
constexpr Pack kPoisonPack{{kPoison, kPoison, kPoison, kPoison}};
constexpr std::int64_t kWordBytes = 4;
constexpr std::int64_t kMisalignment = 4;
constexpr std::int64_t kRowGap = 16;
// Payloads of this many calls are searched for a wrong value, the newest first.
constexpr std::uint64_t kCallsSearched = 64;

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

GatherBuffers::GatherBuffers(const InstanceContext& context, WordMap map, WordMap own_map)
    : context_(context),
      map_(map),
      own_map_(own_map),
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
  newest_call_ = call;
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
  return Compare(checked, /*explain=*/true);
}

CheckResult GatherBuffers::Verify(int slot, bool explain) {
  const Slot& checked = slots_[static_cast<std::size_t>(slot)];
  const std::size_t words = static_cast<std::size_t>(checked.bytes / kWordBytes);
  reference_.resize(words * static_cast<std::size_t>(ranks().size()));
  for (int source = 0; source < ranks().size(); ++source) {
    FillPayload(std::span(reference_).subspan(words * static_cast<std::size_t>(source), words),
                context_.config.seed, checked.call, source);
  }
  return Compare(checked, explain);
}

// Compares the slot's output with reference_, which holds payloads as they were sent.
CheckResult GatherBuffers::Compare(const Slot& slot, bool explain) {
  const auto words = static_cast<std::ptrdiff_t>(slot.bytes / kWordBytes);
  auto block = reference_.begin();
  for (int source = 0; source < ranks().size(); ++source, block += words) {
    std::transform(block, block + words, block, MapOf(source));
  }
  seen_.resize(reference_.size());
  context_.executor.CopyOut(std::as_writable_bytes(std::span(seen_)),
                            outputs_->data() + slot.output);
  const Comparison comparison = CompareWords(reference_, seen_);
  CheckResult result;
  result.calls = 1;
  result.compared = comparison.compared;
  result.mismatches = comparison.mismatches;
  if (comparison.mismatches > 0 && explain) result.first = Explain(slot, comparison.first);
  return result;
}

WordMap GatherBuffers::MapOf(int source) const {
  return source == ranks().rank() ? own_map_ : map_;
}

std::string GatherBuffers::Explain(const Slot& slot, std::uint64_t word) const {
  const auto words = static_cast<std::uint64_t>(slot.bytes / kWordBytes);
  std::string text = "rank " + std::to_string(ranks().rank()) + ", call " +
                     std::to_string(slot.call) + ": word " + std::to_string(word % words) +
                     " of rank " + std::to_string(word / words) + "'s input: expected " +
                     Hex(reference_[word]) + ", seen " + Hex(seen_[word]);
  if (seen_[word] == kPoison) return text + ", which was there before the call";
  if (seen_[word] == kSentinel) return text + ", the sentinel: nothing had arrived";
  const auto pack = std::span(seen_).subspan(word / kPackWords * kPackWords, kPackWords);
  return text + ", " +
         DescribeOrigin(pack, word % kPackWords,
                        {.seed = context_.config.seed,
                         .newest_call = newest_call_,
                         .calls = kCallsSearched,
                         .ranks = ranks().size(),
                         .words_per_rank = static_cast<std::uint64_t>(most_bytes_ / kWordBytes),
                         .map = MapOf(static_cast<int>(word / words))});
}

}  // namespace mailbench
