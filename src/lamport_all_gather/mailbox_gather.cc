#include "src/lamport_all_gather/mailbox_gather.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include "harness/ranks/ranks.h"
#include "harness/validate/comparison.h"
#include "kernels/lamport/launch.h"
#include "kernels/lamport/mailbox.h"

namespace mailbench {
namespace {

// For a look at a mailbox while calls are stuck: megabytes take milliseconds.
constexpr std::chrono::milliseconds kPeekLimit{100};

constexpr WordRule kSentinelToZero = {kSentinel, 0};

MailboxView ViewOf(const SymmetricView& memory, const MailboxLayout& layout) {
  MailboxView view;
  view.layout = layout;
  view.rank = memory.rank;
  view.local = reinterpret_cast<Pack*>(memory.local());
  view.multicast = memory.multicast;
  for (std::size_t peer = 0; peer < memory.peers.size(); ++peer) {
    view.peers[peer] = reinterpret_cast<Pack*>(memory.peers[peer]);
  }
  return view;
}

}  // namespace

MailboxTraits MnnvlTraits(MnnvlVariant variant) {
  const SelfSlot self = WithMnnvlRules(variant, [](auto rules) { return rules.kSelf; });
  return {.own_words_pass = self == SelfSlot::kPolled, .empty_between_calls = false};
}

MailboxLayout MailboxOf(const RunConfig& config, int ranks) {
  return {ranks, config.capacity / kPackBytes};
}

MailboxGather::MailboxGather(const InstanceContext& context, const MailboxTraits& traits)
    : GatherBuffers(context, kSentinelToZero, traits.own_words_pass ? kSentinelToZero : WordRule()),
      traits_(traits),
      layout_(MailboxOf(context.config, context.ranks.size())),
      mailbox_(ViewOf(context.memory, layout_)) {
  context.executor.FillWords(context.memory.local(), kSentinel,
                             static_cast<std::size_t>(layout_.packs()) * kPackWords);
  ranks().Barrier();  // no rank publishes before every mailbox is armed
}

void MailboxGather::Bind(std::span<const Shape> shapes) {
  GatherBuffers::Bind(shapes);
  std::int64_t least = shapes.front().bytes_per_rank;
  for (const Shape& shape : shapes) least = std::min(least, shape.bytes_per_rank);
  packs_.store(least / kPackBytes, std::memory_order_relaxed);
}

CheckResult MailboxGather::Audit() {
  if (!traits_.empty_between_calls) return {};
  std::vector<Pack> copy(static_cast<std::size_t>(layout_.packs()));
  context().executor.CopyOut(std::as_writable_bytes(std::span(copy)), context().memory.local());
  const MailboxAudit audit = AuditMailbox(copy.data(), layout_);
  CheckResult result;
  result.audited = audit.words;
  result.leftover = audit.leftover;
  if (audit.leftover > 0) {
    const LeftoverWord& word = audit.first;
    result.first = "rank " + std::to_string(ranks().rank()) + ": " + Hex(word.value) +
                   " left in the mailbox: generation " + std::to_string(word.generation) +
                   ", slot of rank " + std::to_string(word.source) + ", pack " +
                   std::to_string(word.pack) + ", word " + std::to_string(word.word);
  }
  return result;
}

std::string MailboxGather::DescribeWait() const {
  const std::int64_t packs = packs_.load(std::memory_order_relaxed);
  if (packs == 0 || !traits_.empty_between_calls) return "";
  const std::string whose = "rank " + std::to_string(mailbox_.rank) + "'s mailbox";
  std::vector<Pack> copy(static_cast<std::size_t>(layout_.packs()));
  if (!context().executor.Peek(std::as_writable_bytes(std::span(copy)),
                               reinterpret_cast<const std::byte*>(mailbox_.local), kPeekLimit)) {
    return whose + " could not be read";
  }
  const MailboxDiagnosis diagnosis =
      DiagnoseMailbox(copy.data(), layout_, packs, PlanAllGather(packs, layout_.ranks).poll_batch);
  if (diagnosis.generations.empty()) return whose + " holds no payload: no call waits there";
  return whose + ", " + Describe(diagnosis);
}

}  // namespace mailbench
