// Symmetric memory on GPUs: each rank's share is physical memory of its GPU, mapped by all ranks.
#pragma once

#include <cstddef>
#include <memory>

#include "harness/gpu/driver.h"
#include "harness/memory/handle_exchange.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Collective. Zeroed memory of `bytes` on every rank's device `device` (an index of this process),
// read and written by that rank's device and by all others'. The own share has one mapping only.
// The pointers of the view are device addresses. A vote follows every step: throws on all ranks
// alike an error that names the rank and what failed there (MachineError for the driver; see
// HandleExchange for the exchange), and leaves nothing behind.
// REQUIRES: bytes positive (the largest of all ranks counts); `device`'s primary context is
// current. `driver` and `ranks` outlive the region.
std::unique_ptr<SymmetricRegion> AllocateUnicast(const DriverTable& driver, const Ranks& ranks,
                                                 int device, std::size_t bytes,
                                                 HandleExchange& exchange);

}  // namespace mailbench
