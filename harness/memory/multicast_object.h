// Owner of a rank's part in a multicast object: the handle, the own memory bound to it, and the
// address that stores to all.
#pragma once

#include <cstddef>

#include "harness/gpu/driver.h"
#include "harness/memory/bind_retry.h"
#include "harness/memory/cumem.h"
#include "harness/memory/handle_exchange.h"
#include "harness/memory/peer_shares.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// What was bound at offset 0, as cuMulticastUnbind asks for it.
struct BoundMemory {
  CUmemGenericAllocationHandle object = 0;
  CUdevice device = 0;
  std::size_t bytes = 0;
};
void UnbindMemory(const DriverTable& driver, const BoundMemory& bound);
using Binding = DriverOwned<BoundMemory, UnbindMemory>;

// The smallest granularity of an object of `devices` devices with `bytes` each: a power of two. The
// recommended one grows with the size, to hundreds of megabytes; mailboxes are small.
std::size_t MulticastGranularity(const DriverTable& driver, int devices, std::size_t bytes,
                                 CUmemAllocationHandleType type);

// What was not released is given back by the destructor, without a word to the other ranks. The
// memory that is bound outlives it.
class MulticastObject {
 public:
  MulticastObject() = default;
  // Collective, with a vote after each step that can fail; throws on all ranks alike. Binds the own
  // one of `shares` on every rank, and maps the object. The last vote is also the barrier before
  // the first use. REQUIRES: `granularity` is the object's or a larger power of two, and
  // shares.bytes is a multiple of it.
  MulticastObject(const DriverTable& driver, const Ranks& ranks, int device,
                  const PeerShares& shares, std::size_t granularity, HandleExchange& exchange,
                  const BindRetry& retry);

  CUdeviceptr address() const { return range_.object().start; }
  // Gives all of it back; throws the first refusal after having tried everything. REQUIRES: no rank
  // uses the address any more.
  void Release();

 private:
  // In this order: destructors unmap, free the addresses, unbind, and let go of the object.
  PhysicalMemory object_;
  Binding binding_;
  AddressRange range_;
  Mapping mapping_;
};

}  // namespace mailbench
