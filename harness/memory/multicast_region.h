// Symmetric memory on GPUs that one store reaches on all ranks: as unicast_region.h, and a
// multicast object over all shares (CUDA Driver API, "Multicast Object Management").
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "harness/gpu/driver.h"
#include "harness/memory/handle_exchange.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// For binds that answer CUDA_ERROR_SYSTEM_NOT_READY: the fabric manager stalls now and then, for
// some seconds. All ranks try again together, after `pause`, and give up together once any of them
// has spent `limit`.
struct BindRetry {
  std::chrono::milliseconds pause{1000};
  std::chrono::milliseconds limit{15'000};
};

// Collective. As AllocateUnicast; besides, view().multicast stores to every rank's share at the
// same offset. Only multimem instructions may use it (PTX ISA, "multimem.ld_reduce, multimem.st,
// multimem.red": anything else is undefined). The whole region is one object, since an NVSwitch has
// few slots for them: allocate once and divide. When a vote fails, nothing is left behind; while
// some ranks bind or map, others that have stopped hold them up, which a watchdog has to end.
// REQUIRES: MulticastRefusal has nothing against these ranks: several, each with a GPU of its own,
// in one NVLink domain.
std::unique_ptr<SymmetricRegion> AllocateMulticast(const DriverTable& driver, const Ranks& ranks,
                                                   int device, std::size_t bytes,
                                                   HandleExchange& exchange,
                                                   const BindRetry& retry = {});

}  // namespace mailbench
