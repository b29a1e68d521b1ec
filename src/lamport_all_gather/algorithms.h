// The algorithms of lamport_all_gather, each ready to be called on the transport of its context.
#pragma once

#include <memory>

#include "harness/collective/collective.h"

namespace mailbench {

// All of these are collective and throw the same Error on every rank when they fail on any.

// The subject: kernels/lamport/protocol.h on symmetric memory of config.capacity bytes a rank.
std::unique_ptr<Instance> MakeLamport(const InstanceContext& context);

// MPI_Allgather.
std::unique_ptr<Instance> MakeMpi(const InstanceContext& context);

}  // namespace mailbench
