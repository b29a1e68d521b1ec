// A transport: where calls run, and symmetric memory there.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/launch/executor.h"
#include "harness/memory/symmetric_memory.h"

namespace mailbench {

class Ranks;

class Transport {
 public:
  virtual ~Transport() = default;

  virtual std::string_view name() const = 0;
  virtual Executor& executor() = 0;
  // Collective: zeroed memory of `bytes` on every rank. Throws MachineError on every rank alike
  // when any rank cannot have it.
  virtual std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) = 0;
};

struct RefusedTransport {
  std::string transport;
  std::string reason;
};

struct TransportChoice {
  std::unique_ptr<Transport> transport;
  std::vector<RefusedTransport> refused;  // under "auto": each better one
};

// Collective. `wanted` is a transport's name or "auto": the first of multicast, unicast, host that
// every rank can have. Throws MachineError, the same on every rank, when there is none.
// `ranks` outlives the transport.
TransportChoice ChooseTransport(std::string_view wanted, const Ranks& ranks);

// Why `name` cannot run on the ranks of this run; nothing when it can.
std::optional<std::string> TransportRefusal(std::string_view name, const Ranks& ranks);

// For --list: each transport, and why it cannot run here where it cannot.
std::string ListTransports(const Ranks& ranks);

}  // namespace mailbench
