// The mailbox gathers on the host machine.
#include <cstdint>
#include <memory>

#include "kernels/known_bad/host_mnnvl.h"
#include "kernels/lamport/host_all_gather.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/mailbox_gather.h"

namespace mailbench {
namespace {

class HostGather : public MailboxGather {
 public:
  HostGather(const InstanceContext& context, GatherKind kind)
      : MailboxGather(context),
        stream_(*context.executor.host_stream()),
        gather_(mailbox(), kind) {}

  void Enqueue(int slot) override {
    CountInput(gather_.Enqueue(input(slot), output(slot), stream_));
  }

 private:
  HostStream& stream_;
  HostAllGather gather_;
};

class HostMnnvlGather : public MailboxGather {
 public:
  HostMnnvlGather(const InstanceContext& context, MnnvlVariant variant)
      : MailboxGather(context, MnnvlTraits(variant)),
        stream_(*context.executor.host_stream()),
        gather_(mailbox(), variant) {}

  void Enqueue(int slot) override {
    CountInput(gather_.Enqueue(input(slot), output(slot), stream_));
  }

 private:
  HostStream& stream_;
  HostMnnvl gather_;
};

}  // namespace

std::unique_ptr<Instance> MakeHostMnnvl(const InstanceContext& context, MnnvlVariant variant) {
  return std::make_unique<HostMnnvlGather>(context, variant);
}

std::unique_ptr<Instance> MakeHostGather(const InstanceContext& context, GatherKind kind) {
  return std::make_unique<HostGather>(context, kind);
}

}  // namespace mailbench
