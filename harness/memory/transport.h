// A transport: where calls run, and symmetric memory there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/collective/site.h"
#include "harness/launch/executor.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/validate/reference.h"

namespace mailbench {

class NcclComm;
class Ranks;
struct Environment;
struct RunConfig;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;
  virtual const Site& site() const = 0;
  virtual Executor& executor() = 0;
  // What results of calls on this transport are compared with.
  virtual Reference& reference() = 0;
  // Null where it cannot run: site().nccl_refusal says why.
  virtual NcclComm* nccl() { return nullptr; }

  // Collective: zeroed memory of `bytes` on every rank. Throws MachineError on every rank alike
  // when any rank cannot have it.
  virtual std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) = 0;
  // Adds what a report says of the devices and libraries.
  virtual void Describe(Environment& /*environment*/) const {}
  // Collective: gives back what making it took. REQUIRES: everything made from it is gone.
  virtual void Free() {}
};

struct RefusedTransport {
  std::string transport;
  std::string reason;
};

struct TransportChoice {
  std::unique_ptr<Transport> transport;
  std::vector<RefusedTransport> refused;  // under "auto": each better one
};

// Collective: makes a transport by its name. Throws MachineError, the same on every rank, when it
// cannot run here.
using TransportFactory = std::function<std::unique_ptr<Transport>(
    std::string_view name, const RunConfig& config, const Ranks& ranks)>;
// The one of every binary: on real GPUs and on the host.
std::unique_ptr<Transport> MakeTransport(std::string_view name, const RunConfig& config,
                                         const Ranks& ranks);

// Collective. config.transport is a transport's name or "auto": the first of multicast (where
// `wants_multicast`: nobody else takes one of the switches' slots), unicast, host that every rank
// can have; host-multicast runs only when named. Of multicast a small region is made as a trial: an
// error there counts as a refusal, a call of the driver that never returns is for the watchdog.
// Throws MachineError, the same on every rank, when there is none, and when the trial cannot be
// given back. `ranks` outlives the transport.
TransportChoice ChooseTransport(const RunConfig& config, const Ranks& ranks,
                                bool wants_multicast = true,
                                const TransportFactory& make = MakeTransport);

// For --list: each transport, and why it cannot run here where it cannot, as ChooseTransport has
// found or would find. Collective, and throws as that does.
std::string ListTransports(const TransportChoice& choice, const RunConfig& config,
                           const Ranks& ranks, const TransportFactory& make = MakeTransport);

}  // namespace mailbench
