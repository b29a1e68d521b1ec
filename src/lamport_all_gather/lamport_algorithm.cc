#include <cstdint>
#include <memory>
#include <string>

#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"
#include "harness/validate/comparison.h"
#include "kernels/lamport/host_all_gather.h"
#include "kernels/lamport/layout.h"
#include "kernels/lamport/mailbox.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gather_buffers.h"

namespace mailbench {
namespace {

std::uint32_t SentinelToZero(std::uint32_t word) { return word == kSentinel ? 0 : word; }

MailboxView ViewOf(const SymmetricView& memory, const MailboxLayout& layout) {
  MailboxView view;
  view.layout = layout;
  view.rank = memory.rank;
  view.local = reinterpret_cast<Pack*>(memory.local());
  for (std::size_t peer = 0; peer < memory.peers.size(); ++peer) {
    view.peers[peer] = reinterpret_cast<Pack*>(memory.peers[peer]);
  }
  return view;
}

class Lamport : public GatherBuffers {
 public:
  explicit Lamport(const InstanceContext& context)
      : GatherBuffers(context, SentinelToZero),
        layout_{context.ranks.size(), context.config.capacity / kPackBytes},
        region_(context.transport.Allocate(static_cast<std::size_t>(layout_.bytes()))),
        stream_(*context.executor.host_stream()),
        gather_(ViewOf(region_->view(), layout_)) {
    ArmMailbox(mailbox(), layout_);
    ranks().Barrier();  // no rank publishes before every mailbox is armed
  }

  void Enqueue(int slot) override { gather_.Enqueue(input(slot), output(slot), stream_); }
  std::uint64_t input_copies() const override { return gather_.input_copies(); }
  void Free() override { region_->Free(); }

  CheckResult Audit() override {
    const MailboxAudit audit = AuditMailbox(mailbox(), layout_);
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

 private:
  Pack* mailbox() const { return reinterpret_cast<Pack*>(region_->view().local()); }

  MailboxLayout layout_;
  std::unique_ptr<SymmetricRegion> region_;
  HostStream& stream_;
  HostAllGather gather_;
};

}  // namespace

std::unique_ptr<Instance> MakeLamport(const InstanceContext& context) {
  return std::make_unique<Lamport>(context);
}

}  // namespace mailbench
