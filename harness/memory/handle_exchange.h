// How a process gets hold of what another one made with the driver: memory, or a multicast object.
#pragma once

#include <cuda.h>

#include <chrono>
#include <memory>
#include <vector>

#include "harness/gpu/driver.h"
#include "harness/memory/cumem.h"
#include "harness/memory/fd_exchange.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Both functions are collective, with a vote after each step that can fail: they throw MachineError
// on all ranks alike and leave nothing behind.
class HandleExchange {
 public:
  virtual ~HandleExchange() = default;

  // What the objects have to be created for.
  virtual CUmemAllocationHandleType type() const = 0;
  // Gives `own` to every other rank and returns theirs by rank; the own entry is empty.
  virtual std::vector<PhysicalMemory> ShareAll(CUmemGenericAllocationHandle own) = 0;
  // Gives rank 0's `own`, which counts for nothing elsewhere, to every other rank, and returns it
  // there; nothing on rank 0. REQUIRES: rank 0 holds it until all have returned.
  virtual PhysicalMemory ShareOfRankZero(CUmemGenericAllocationHandle own) = 0;
};

// By POSIX file descriptors; `deadline` is for their exchange. REQUIRES: all ranks on one host.
// `driver` and `ranks` outlive the exchange, here and below.
std::unique_ptr<HandleExchange> MakeFdHandleExchange(const DriverTable& driver, const Ranks& ranks,
                                                     std::chrono::milliseconds deadline,
                                                     const FdExchangeHooks& hooks = {});
// By FABRIC handles (CUmemFabricHandle: 64 bytes that any process of the IMEX domain may import),
// which need an IMEX channel on every host.
std::unique_ptr<HandleExchange> MakeFabricHandleExchange(const DriverTable& driver,
                                                         const Ranks& ranks);

// Descriptors on one host, where nothing has to be set up for them; FABRIC across hosts.
std::unique_ptr<HandleExchange> MakeHandleExchange(const DriverTable& driver, const Ranks& ranks,
                                                   std::chrono::milliseconds deadline);

}  // namespace mailbench
