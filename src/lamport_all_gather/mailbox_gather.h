// What gathers through a Lamport mailbox share, wherever they run: the symmetric memory, its arming
// and its audit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harness/memory/transport.h"
#include "kernels/known_bad/variants.h"
#include "kernels/lamport/layout.h"
#include "src/lamport_all_gather/gather_buffers.h"

namespace mailbench {

// What a protocol promises of its mailbox.
struct MailboxTraits {
  bool own_words_pass =
      true;  // the rank's own block comes through it too, sanitised like any other
  bool empty_between_calls =
      true;  // every word is the sentinel then: audited, and read to diagnose
};

// They leave stages dirty by design; some take the own block from registers.
MailboxTraits MnnvlTraits(MnnvlVariant variant);

class MailboxGather : public GatherBuffers {
 public:
  // Collective: takes symmetric memory for config.capacity bytes a rank and arms the mailbox.
  explicit MailboxGather(const InstanceContext& context, const MailboxTraits& traits = {});

  void Bind(std::span<const Shape> shapes) override;
  CheckResult Audit() override;
  std::string DescribeWait() const override;
  void Free() override;

 protected:
  const MailboxView& mailbox() const { return mailbox_; }

 private:
  MailboxTraits traits_;
  MailboxLayout layout_;
  std::unique_ptr<SymmetricRegion> region_;
  MailboxView mailbox_;
  // Of the smallest calls that are bound: packs that every call has. Read by DescribeWait.
  std::atomic<std::int64_t> packs_{0};
};

}  // namespace mailbench
