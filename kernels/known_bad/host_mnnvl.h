// The known-bad all-gathers on the host machine. Without multicast the newer generation is right
// there: the stale word takes a multicast copy that is late, and a unicast store of this machine
// lands at once. The older one hangs here too, when a rank is slow.
#pragma once

#include <memory>
#include <vector>

#include "kernels/known_bad/layout.h"
#include "kernels/known_bad/variants.h"
#include "kernels/lamport/gather_input.h"
#include "kernels/lamport/layout.h"
#include "kernels/machine/host/stream.h"

namespace mailbench {

// As HostAllGather, multicast included. REQUIRES: every call is enqueued on the same stream.
class HostMnnvl {
 public:
  HostMnnvl(const MailboxView& mailbox, MnnvlVariant variant);

  // Enqueues one gather: output[ranks][input.bytes()], rank-major. Words equal to kSentinel arrive
  // as 0, but for the rank's own where the variant takes them from registers. Returns whether the
  // input is copied first. Throws std::invalid_argument for a size that AcceptsBytes refuses.
  bool Enqueue(const GatherInput& input, Pack* output, HostStream& stream);

 private:
  MailboxView mailbox_;
  MnnvlVariant variant_;
  std::unique_ptr<MnnvlState> state_;  // stays in place: recorded launches point to it
  std::vector<Pack> staging_;
};

}  // namespace mailbench
