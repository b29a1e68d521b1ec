// Symmetric memory on GPUs: each rank's share is physical memory of its GPU, mapped by all ranks;
// over it, where asked for, a multicast object that one store reaches all shares through (CUDA
// Driver API, "Virtual Memory Management" and "Multicast Object Management").
#pragma once

#include <cstddef>
#include <memory>

#include "harness/gpu/driver.h"
#include "harness/memory/bind_retry.h"
#include "harness/memory/handle_exchange.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Collective, both: a vote follows every step that another rank's step builds on or that can wait
// for another rank; what a rank does by itself alone, reserving, mapping and opening its mappings
// of all shares, is one step, since none of it waits for anybody. They throw on all ranks alike a
// MachineError that names the rank, what failed there and what the driver said; nothing is left
// behind. While some ranks bind or map, others that have stopped hold them up, which a watchdog has
// to end. So it is with the region's Free, too; what the driver refuses to take back stays with it.
// REQUIRES: bytes positive (the largest of all ranks counts); `device`, an index of this process,
// is the current one, and its primary context current. `driver` and `ranks` outlive the region.

// Zeroed memory of `bytes` on every rank's device, read and written by that rank's device and by
// all others'. The own share has one mapping only. The pointers of the view are device addresses.
std::unique_ptr<SymmetricRegion> AllocateUnicast(const DriverTable& driver, const Ranks& ranks,
                                                 int device, std::size_t bytes,
                                                 HandleExchange& exchange);

// The same, and view().multicast stores to every rank's share at the same offset. Only multimem
// instructions may use it (PTX ISA, "multimem.ld_reduce, multimem.st, multimem.red": anything else
// is undefined). The whole region is one object, and an NVSwitch has few slots for them: allocate
// once and divide (SymmetricRegion::Part).
// REQUIRES: MulticastRefusal has nothing against these ranks: several, each with a GPU of its own,
// in one NVLink domain.
std::unique_ptr<SymmetricRegion> AllocateMulticast(const DriverTable& driver, const Ranks& ranks,
                                                   int device, std::size_t bytes,
                                                   HandleExchange& exchange,
                                                   const BindRetry& retry = {});

}  // namespace mailbench
