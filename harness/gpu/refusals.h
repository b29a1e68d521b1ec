// What is asked of the ranks before they share GPU memory, with any driver, a test's own as well.
#pragma once

#include <vector>

#include "harness/gpu/gpu_facts.h"
#include "harness/gpu/gpu_transport.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Collective, both, and they throw MachineError on every rank alike.

// Unless every rank's environment allows such memory (MulticastForbidden). Needs no driver.
void RequireAllowed(const Ranks& ranks, GpuMemory memory);

// Unless ranks with these GPUs can share it: ranks of several hosts have to be in one NVLink domain
// (DomainRefusal), those of a multicast object may have nothing against it (MulticastRefusal).
void RequireReach(const Ranks& ranks, GpuMemory memory, const std::vector<GpuFacts>& facts_by_rank);

}  // namespace mailbench
