#include "src/lamport_all_gather/gather_buffers.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "harness/ranks/ranks.h"
#include "harness/validate/comparison.h"
#include "harness/validate/payload.h"
#include "kernels/lamport/layout.h"

namespace mailbench {
namespace {

constexpr std::uint32_t kPoison = 0xdeadbeefu;
constexpr Pack kPoisonPack{{kPoison, kPoison, kPoison, kPoison}};
constexpr std::int64_t kMisalignment = 4;
constexpr std::int64_t kRowGap = 16;
// Payloads of this many calls are searched for a wrong value, the newest first.
constexpr std::uint64_t kCallsSearched = 64;

std::span<const std::uint32_t> Words(const std::vector<Pack>& packs) {
  return {reinterpret_cast<const std::uint32_t*>(packs.data()), packs.size() * kPackWords};
}

}  // namespace

InputLayout ParseInputLayout(std::string_view name) {
  if (name == "misaligned") return InputLayout::kMisaligned;
  if (name == "strided") return InputLayout::kStrided;
  return InputLayout::kAligned;
}

GatherBuffers::GatherBuffers(const InstanceContext& context, WordMap map)
    : context_(context), map_(map), layout_(ParseInputLayout(context.config.own.at("input"))) {}

void GatherBuffers::Bind(const Shape& shape, int slots) {
  bytes_ = shape.bytes_per_rank;
  const auto packs = static_cast<std::size_t>(bytes_ / kPackBytes);
  const auto ranks = static_cast<std::size_t>(context_.ranks.size());
  slots_.clear();  // gives the memory back before the new is taken
  slots_.resize(static_cast<std::size_t>(slots));
  for (Slot& slot : slots_) {
    // Room for either layout: a pack more for misalignment, a gap after each row of a pack or more.
    slot.input.resize(layout_ == InputLayout::kAligned ? packs : 2 * packs + 1);
    slot.output.resize(ranks * packs);
  }
  payload_.resize(packs * kPackWords);
  reference_.resize(ranks * packs * kPackWords);
}

GatherInput GatherBuffers::input(int slot) const {
  const auto& packs = slots_[static_cast<std::size_t>(slot)].input;
  const auto* data = reinterpret_cast<const std::byte*>(packs.data());
  switch (layout_) {
    case InputLayout::kAligned:
      break;
    case InputLayout::kMisaligned:
      return {data + kMisalignment, 1, bytes_, bytes_};
    case InputLayout::kStrided: {
      const std::int64_t row = bytes_ % 64 == 0 ? 64 : kPackBytes;
      return {data, bytes_ / row, row, row + kRowGap};
    }
  }
  return {data, 1, bytes_, bytes_};
}

Pack* GatherBuffers::output(int slot) {
  return slots_[static_cast<std::size_t>(slot)].output.data();
}

void GatherBuffers::Fill(int slot, std::uint64_t call) {
  Slot& buffers = slots_[static_cast<std::size_t>(slot)];
  buffers.call = call;
  newest_call_ = call;
  FillPayload(payload_, context_.config.seed, call, context_.ranks.rank());
  std::fill(buffers.input.begin(), buffers.input.end(), kPoisonPack);
  const GatherInput to = input(slot);
  const auto* from = reinterpret_cast<const std::byte*>(payload_.data());
  for (std::int64_t row = 0; row < to.rows; ++row) {
    std::memcpy(const_cast<std::byte*>(to.data) + row * to.row_stride, from + row * to.row_bytes,
                static_cast<std::size_t>(to.row_bytes));
  }
  std::fill(buffers.output.begin(), buffers.output.end(), kPoisonPack);
}

CheckResult GatherBuffers::Check(int slot) {
  const Slot& buffers = slots_[static_cast<std::size_t>(slot)];
  FillPayload(payload_, context_.config.seed, buffers.call, context_.ranks.rank());
  context_.ranks.GatherWords(payload_, reference_);
  std::transform(reference_.begin(), reference_.end(), reference_.begin(), map_);

  const Comparison comparison = CompareWords(reference_, Words(buffers.output));
  CheckResult result;
  result.calls = 1;
  result.compared = comparison.compared;
  result.mismatches = comparison.mismatches;
  if (comparison.mismatches > 0) {
    result.first = Explain(buffers, comparison.first, reference_[comparison.first]);
  }
  return result;
}

std::string GatherBuffers::Explain(const Slot& slot, std::uint64_t word,
                                   std::uint32_t expected) const {
  const std::uint64_t words = payload_.size();
  const std::span<const std::uint32_t> output = Words(slot.output);
  std::string text = "rank " + std::to_string(context_.ranks.rank()) + ", call " +
                     std::to_string(slot.call) + ": word " + std::to_string(word % words) +
                     " of rank " + std::to_string(word / words) + "'s input: expected " +
                     Hex(expected) + ", seen " + Hex(output[word]);
  if (output[word] == kPoison) return text + ", which was there before the call";
  if (output[word] == kSentinel) return text + ", the sentinel: nothing had arrived";
  const auto pack = output.subspan(word / kPackWords * kPackWords, kPackWords);
  return text + ", " +
         DescribeOrigin(pack, word % kPackWords,
                        {.seed = context_.config.seed,
                         .newest_call = newest_call_,
                         .calls = kCallsSearched,
                         .ranks = context_.ranks.size(),
                         .words_per_rank = words,
                         .map = map_});
}

}  // namespace mailbench
