// Transport `host`: an MPI shared-memory window, and calls on the host machine.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "harness/launch/host_executor.h"
#include "harness/memory/transport.h"

namespace mailbench {

// REQUIRES: all ranks are on one host.
class HostTransport : public Transport {
 public:
  explicit HostTransport(const Ranks& ranks) : ranks_(ranks) {}

  std::string_view name() const override { return "host"; }
  Executor& executor() override { return executor_; }
  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override;

 private:
  const Ranks& ranks_;
  HostExecutor executor_;
};

}  // namespace mailbench
