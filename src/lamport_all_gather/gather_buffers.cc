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
constexpr std::int64_t kMisalignment = 4;
constexpr std::int64_t kRowGap = 16;
// Payloads of this many calls are searched for a wrong value, the newest first.
constexpr std::uint64_t kCallsSearched = 64;

// Slots do not share lines.
std::size_t Padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

}  // namespace

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

void GatherBuffers::Bind(const Shape& shape, int slots) {
  GatherBuffers::Free();  // gives the memory back before the new is taken
  bytes_ = shape.bytes_per_rank;
  inputs_enqueued_ = 0;
  inputs_copied_ = 0;
  const auto packs = static_cast<std::size_t>(bytes_ / kPackBytes);
  const auto count = static_cast<std::size_t>(ranks().size());
  // Room for either layout: a pack more for misalignment, a gap after each row of a pack or more.
  image_.resize(layout_ == InputLayout::kAligned ? packs : 2 * packs + 1);
  payload_.resize(packs * kPackWords);
  reference_.resize(count * packs * kPackWords);
  seen_.resize(reference_.size());
  calls_.assign(static_cast<std::size_t>(slots), 0);
  input_stride_ = Padded(image_.size() * kPackBytes);
  output_stride_ = Padded(count * packs * kPackBytes);
  inputs_ = TakeMemory(input_stride_ * calls_.size());
  outputs_ = TakeMemory(output_stride_ * calls_.size());
}

void GatherBuffers::CountInput(bool copied) {
  ++inputs_enqueued_;
  if (copied) ++inputs_copied_;
}

double GatherBuffers::input_copies_per_call() const {
  if (inputs_enqueued_ == 0) return 0;
  return static_cast<double>(inputs_copied_) / static_cast<double>(inputs_enqueued_);
}

std::byte* GatherBuffers::InputMemory(int slot) const {
  return inputs_->data() + static_cast<std::size_t>(slot) * input_stride_;
}

GatherInput GatherBuffers::input(int slot) const { return InputIn(InputMemory(slot)); }

GatherInput GatherBuffers::InputIn(const std::byte* memory) const {
  switch (layout_) {
    case InputLayout::kAligned:
      break;
    case InputLayout::kMisaligned:
      return {memory + kMisalignment, 1, bytes_, bytes_};
    case InputLayout::kStrided: {
      const std::int64_t row = bytes_ % 64 == 0 ? 64 : kPackBytes;
      return {memory, bytes_ / row, row, row + kRowGap};
    }
  }
  return {memory, 1, bytes_, bytes_};
}

Pack* GatherBuffers::output(int slot) const {
  return reinterpret_cast<Pack*>(outputs_->data() +
                                 static_cast<std::size_t>(slot) * output_stride_);
}

void GatherBuffers::Fill(int slot, std::uint64_t call) {
  calls_[static_cast<std::size_t>(slot)] = call;
  newest_call_ = call;
  FillPayload(payload_, context_.config.seed, call, ranks().rank());
  std::fill(image_.begin(), image_.end(), kPoisonPack);
  const GatherInput to = InputIn(reinterpret_cast<const std::byte*>(image_.data()));
  const auto* from = reinterpret_cast<const std::byte*>(payload_.data());
  for (std::int64_t row = 0; row < to.rows; ++row) {
    std::memcpy(const_cast<std::byte*>(to.data) + row * to.row_stride, from + row * to.row_bytes,
                static_cast<std::size_t>(to.row_bytes));
  }
  context_.executor.CopyIn(InputMemory(slot), std::as_bytes(std::span(image_)));
  context_.executor.FillWords(reinterpret_cast<std::byte*>(output(slot)), kPoison, seen_.size());
}

CheckResult GatherBuffers::Check(int slot) {
  const std::uint64_t call = calls_[static_cast<std::size_t>(slot)];
  FillPayload(payload_, context_.config.seed, call, ranks().rank());
  context_.reference.AllGather(payload_, reference_);
  MapReference();
  context_.executor.CopyOut(std::as_writable_bytes(std::span(seen_)),
                            reinterpret_cast<const std::byte*>(output(slot)));

  const Comparison comparison = CompareWords(reference_, seen_);
  CheckResult result;
  result.calls = 1;
  result.compared = comparison.compared;
  result.mismatches = comparison.mismatches;
  if (comparison.mismatches > 0) {
    result.first = Explain(call, comparison.first, reference_[comparison.first]);
  }
  return result;
}

WordMap GatherBuffers::MapOf(int source) const {
  return source == ranks().rank() ? own_map_ : map_;
}

void GatherBuffers::MapReference() {
  auto block = reference_.begin();
  for (int source = 0; source < ranks().size(); ++source) {
    const auto end = block + static_cast<std::ptrdiff_t>(payload_.size());
    std::transform(block, end, block, MapOf(source));
    block = end;
  }
}

std::string GatherBuffers::Explain(std::uint64_t call, std::uint64_t word,
                                   std::uint32_t expected) const {
  const std::uint64_t words = payload_.size();
  std::string text = "rank " + std::to_string(ranks().rank()) + ", call " + std::to_string(call) +
                     ": word " + std::to_string(word % words) + " of rank " +
                     std::to_string(word / words) + "'s input: expected " + Hex(expected) +
                     ", seen " + Hex(seen_[word]);
  if (seen_[word] == kPoison) return text + ", which was there before the call";
  if (seen_[word] == kSentinel) return text + ", the sentinel: nothing had arrived";
  const auto pack = std::span(seen_).subspan(word / kPackWords * kPackWords, kPackWords);
  return text + ", " +
         DescribeOrigin(pack, word % kPackWords,
                        {.seed = context_.config.seed,
                         .newest_call = newest_call_,
                         .calls = kCallsSearched,
                         .ranks = ranks().size(),
                         .words_per_rank = words,
                         .map = MapOf(static_cast<int>(word / words))});
}

}  // namespace mailbench
