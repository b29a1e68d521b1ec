#include "src/lamport_all_gather/mailbox_gather.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "harness/ranks/ranks.h"
#include "harness/validate/comparison.h"
#include "kernels/lamport/launch.h"
#include "kernels/lamport/mailbox.h"

namespace mailbench {
namespace {

// For a look at all mailboxes while calls are stuck: megabytes take milliseconds.
constexpr std::chrono::milliseconds kPeekLimit{80};

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
  least_packs_.store(least / kPackBytes, std::memory_order_relaxed);
  most_packs_.store(most_bytes() / kPackBytes, std::memory_order_relaxed);
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

std::optional<MailboxDiagnosis> MailboxGather::Look(
    int rank, const PackRange& packs, std::chrono::steady_clock::time_point deadline) const {
  const Pack* mailbox = mailbox_.peers[rank];
  // The slots of the calls alone, packed together.
  const MailboxLayout looked_at{layout_.ranks, packs.most};
  std::vector<Pack> copy(static_cast<std::size_t>(looked_at.packs()));
  for (std::uint32_t generation = 0; generation < kGenerations; ++generation) {
    for (int source = 0; source < layout_.ranks; ++source) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      const std::span<Pack> to =
          std::span(copy).subspan(static_cast<std::size_t>(looked_at.Slot(generation, source, 0)),
                                  static_cast<std::size_t>(packs.most));
      const Pack* from = mailbox + layout_.Slot(generation, source, 0);
      if (left.count() <= 0 ||
          !context().executor.Peek(std::as_writable_bytes(to),
                                   reinterpret_cast<const std::byte*>(from), left)) {
        return std::nullopt;
      }
    }
  }
  return DiagnoseMailbox(copy.data(), looked_at, packs,
                         PlanAllGather(packs.most, layout_.ranks).poll_batch);
}

std::string MailboxGather::DescribeWait() const {
  const PackRange packs{least_packs_.load(std::memory_order_relaxed),
                        most_packs_.load(std::memory_order_relaxed)};
  if (packs.most == 0 || !traits_.empty_between_calls) return "";
  const auto deadline = std::chrono::steady_clock::now() + kPeekLimit;
  std::vector<RankMailbox> mailboxes;
  for (int i = 0; i < layout_.ranks; ++i) {  // this rank's own first
    const int rank = (mailbox_.rank + i) % layout_.ranks;
    if (auto diagnosis = Look(rank, packs, deadline)) {
      mailboxes.push_back({rank, *std::move(diagnosis)});
    }
  }
  if (mailboxes.empty()) return "no mailbox could be read";
  return mailbench::DescribeWait(mailboxes);
}

}  // namespace mailbench
