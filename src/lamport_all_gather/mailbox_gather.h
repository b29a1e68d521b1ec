// What gathers through a Lamport mailbox share, wherever they run: the symmetric memory, its arming
// and its audit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "harness/memory/transport.h"
#include "kernels/lamport/layout.h"
#include "src/lamport_all_gather/gather_buffers.h"

namespace mailbench {

class MailboxGather : public GatherBuffers {
 public:
  // Collective: takes symmetric memory for config.capacity bytes a rank and arms the mailbox.
  explicit MailboxGather(const InstanceContext& context);

  void Bind(const Shape& shape, int slots) override;
  CheckResult Audit() override;
  std::string DescribeWait() const override;
  void Free() override;

 protected:
  const MailboxView& mailbox() const { return mailbox_; }

 private:
  MailboxLayout layout_;
  std::unique_ptr<SymmetricRegion> region_;
  MailboxView mailbox_;
  std::atomic<std::int64_t> packs_{0};  // of the calls that are bound; read by DescribeWait
};

}  // namespace mailbench
