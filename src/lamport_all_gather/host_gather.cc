// The mailbox gathers on the host machine.
#include <cstdint>
#include <memory>

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

}  // namespace

std::unique_ptr<Instance> MakeHostGather(const InstanceContext& context, GatherKind kind) {
  return std::make_unique<HostGather>(context, kind);
}

}  // namespace mailbench
