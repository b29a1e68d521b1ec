// Symmetric memory as the driver sees it: every rank's share, physical memory of that rank's GPU,
// mapped here.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/gpu/driver.h"
#include "harness/memory/cumem.h"
#include "harness/memory/handle_exchange.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// A value, moved only. What was not released is given back by its destructor, without a word to the
// other ranks.
struct PeerShares {
  std::size_t bytes = 0;  // of each, as the driver counts it
  std::vector<MappedMemory> by_rank;

  // Of `asked` bytes a share, for `rank`.
  SymmetricView View(std::size_t asked, int rank) const;
  // Gives all of it back; throws the first refusal after having tried everything.
  void Release();
};

// Collective, both, with a vote after each step that can fail; they throw on all ranks alike.

// The size of each share: the largest `bytes` of all ranks, rounded up to the largest `granularity`
// of all ranks (powers of two, so that it is a multiple of each).
std::size_t AgreeOnSize(const Ranks& ranks, std::size_t bytes, std::size_t granularity);

// Zeroed shares of `bytes` (as AgreeOnSize gave it) on every rank's device `device`, each mapped
// once by every rank and read and written by every rank's device. The last vote is also the barrier
// before the first use.
PeerShares AllocateShares(const DriverTable& driver, const Ranks& ranks, int device,
                          std::size_t bytes, HandleExchange& exchange);

}  // namespace mailbench
