#include "harness/gpu/refusals.h"

#include "harness/gpu/domain.h"
#include "harness/gpu/driver.h"

namespace mailbench {

void RequireAllowed(const Ranks& ranks, GpuMemory memory) {
  if (memory == GpuMemory::kMulticast) ranks.Vote(ExitCode::kMachine, MulticastForbidden());
}

void RequireReach(const Ranks& ranks, GpuMemory memory,
                  const std::vector<GpuFacts>& facts_by_rank) {
  if (!ranks.one_host()) {
    ranks.Vote(ExitCode::kMachine, DomainRefusal(facts_by_rank, ranks.hosts()));
  }
  if (memory == GpuMemory::kMulticast) {
    ranks.Vote(ExitCode::kMachine, MulticastRefusal(facts_by_rank, ranks.hosts()));
  }
}

}  // namespace mailbench
