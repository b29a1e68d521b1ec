// What gathers through a Lamport mailbox share, wherever they run: the symmetric memory, its arming
// and its audit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "kernels/known_bad/variants.h"
#include "kernels/lamport/layout.h"
#include "kernels/lamport/mailbox.h"
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

// The mailbox of every such gather of a run.
MailboxLayout MailboxOf(const RunConfig& config, int ranks);

class MailboxGather : public GatherBuffers {
 public:
  // Collective: arms the mailbox. REQUIRES: context.memory has MailboxOf(...).bytes().
  explicit MailboxGather(const InstanceContext& context, const MailboxTraits& traits = {});

  void Bind(std::span<const Shape> shapes) override;
  CheckResult Audit() override;
  std::string DescribeWait() const override;

 protected:
  const MailboxView& mailbox() const { return mailbox_; }

 private:
  // Of the rank's mailbox; nothing where it cannot be read by `deadline`.
  std::optional<MailboxDiagnosis> Look(int rank, const PackRange& packs,
                                       std::chrono::steady_clock::time_point deadline) const;

  MailboxTraits traits_;
  MailboxLayout layout_;
  MailboxView mailbox_;
  // Of the smallest and of the largest calls that are bound. Read by DescribeWait.
  std::atomic<std::int64_t> least_packs_{0};
  std::atomic<std::int64_t> most_packs_{0};
};

}  // namespace mailbench
