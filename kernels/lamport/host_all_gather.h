// The all-gathers on the host machine: the object that a rank calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/lamport/gather_input.h"
#include "kernels/lamport/gather_options.h"
#include "kernels/lamport/layout.h"
#include "kernels/machine/host/stream.h"
#include "kernels/machine/trace.h"

namespace mailbench {

// Publishes by multicast where the mailbox has it (a HostMulticast), else by one store a rank.
//
// REQUIRES of the constructor: the mailbox has been armed on every rank, followed by a barrier.
// The mailbox outlives the object, and the object every graph that holds a call of it.
class HostAllGather {
 public:
  explicit HostAllGather(const MailboxView& mailbox, GatherKind kind = GatherKind::kLamport);

  // From the size alone: 1 byte to the capacity, a multiple of 16.
  bool Accepts(std::int64_t bytes) const;

  // Enqueues one gather: output[ranks][input.bytes()], rank-major; words equal to kSentinel arrive
  // as 0 on every rank. An input that is not contiguous or not 16-byte aligned is copied first, as
  // part of the call: returns true then. `output` is 16-byte aligned. Throws std::invalid_argument
  // when the input is not accepted or when `stream` is not the stream of the first call.
  // `trace`, when it has times: a kernel runs that marks when it does what. It has room for the
  // threads of the call's plan, and stays until the call has ended.
  bool Enqueue(const GatherInput& input, Pack* output, HostStream& stream,
               const TraceView& trace = {});

 private:
  MailboxView mailbox_;
  GatherKind kind_;
  std::unique_ptr<GatherState> state_;  // stays in place: recorded launches point to it
  std::vector<Pack> staging_;
  const HostStream* stream_ = nullptr;
};

}  // namespace mailbench
