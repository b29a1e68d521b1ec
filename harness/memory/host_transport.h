// Transports `host` and `host-multicast`: an MPI shared-memory window, and calls on the host
// machine. The latter also has a multicast address, whose stores land late, word by word.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "harness/launch/host_executor.h"
#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"
#include "kernels/machine/host/late_stores.h"

namespace mailbench {

// Throws MachineError, on every rank alike, unless all ranks are on one host.
class HostTransport : public Transport {
 public:
  explicit HostTransport(const Ranks& ranks);
  // With multicast. `seed` decides, together with the rank, how late words land.
  HostTransport(const Ranks& ranks, std::uint64_t seed);

  std::string_view name() const override { return site_.transport; }
  const Site& site() const override { return site_; }
  Executor& executor() override { return executor_; }
  Reference& reference() override { return reference_; }
  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override;

 private:
  const Ranks& ranks_;
  Site site_;
  std::optional<LateStores> late_stores_;  // with multicast
  HostExecutor executor_;
  MpiReference reference_;
};

}  // namespace mailbench
