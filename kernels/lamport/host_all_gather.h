// The Lamport all-gather on the host machine: the object that a rank calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/lamport/layout.h"
#include "kernels/machine/host/stream.h"

namespace mailbench {

// A rank's input: `rows` rows of `row_bytes`, `row_stride` bytes apart. Need not be aligned.
struct GatherInput {
  const std::byte* data = nullptr;
  std::int64_t rows = 1;
  std::int64_t row_bytes = 0;
  std::int64_t row_stride = 0;

  std::int64_t bytes() const { return rows * row_bytes; }
};

// REQUIRES of the constructor: the mailbox has been armed on every rank, followed by a barrier.
// The mailbox outlives the object, and the object every graph that holds a call of it.
class HostAllGather {
 public:
  explicit HostAllGather(const MailboxView& mailbox);

  // From the size alone: 1 byte to the capacity, a multiple of 16.
  bool Accepts(std::int64_t bytes) const;

  // Enqueues one gather: output[ranks][input.bytes()], rank-major; words equal to kSentinel arrive
  // as 0 on every rank. An input that is not contiguous or not 16-byte aligned is copied first, as
  // part of the call. `output` is 16-byte aligned. Throws std::invalid_argument when the input is
  // not accepted or when `stream` is not the stream of the first call.
  void Enqueue(const GatherInput& input, Pack* output, HostStream& stream);

  std::uint64_t input_copies() const { return *input_copies_; }

 private:
  MailboxView mailbox_;
  std::unique_ptr<GatherState> state_;  // stays in place: recorded launches point to it
  std::unique_ptr<std::uint64_t> input_copies_;
  std::vector<Pack> staging_;
  const HostStream* stream_ = nullptr;
};

// Fills a mailbox with sentinels.
void ArmMailbox(Pack* mailbox, const MailboxLayout& layout);

// A word that is not the sentinel between calls: L1 broken.
struct LeftoverWord {
  std::uint32_t generation;
  int source;
  std::int64_t pack;
  int word;
  std::uint32_t value;
};

struct MailboxAudit {
  std::uint64_t words = 0;     // looked at: all of the mailbox
  std::uint64_t leftover = 0;  // not the sentinel
  LeftoverWord first{};        // when leftover > 0
};

// REQUIRES: no call is in flight on any rank.
MailboxAudit AuditMailbox(const Pack* mailbox, const MailboxLayout& layout);

}  // namespace mailbench
