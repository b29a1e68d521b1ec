// Transport `host`: an MPI shared-memory window, and calls on the host machine.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "harness/launch/host_executor.h"
#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// Throws MachineError, on every rank alike, unless all ranks are on one host.
class HostTransport : public Transport {
 public:
  explicit HostTransport(const Ranks& ranks);

  std::string_view name() const override { return "host"; }
  const Site& site() const override { return site_; }
  Executor& executor() override { return executor_; }
  Reference& reference() override { return reference_; }
  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override;

 private:
  const Ranks& ranks_;
  Site site_;
  HostExecutor executor_;
  MpiReference reference_;
};

}  // namespace mailbench
