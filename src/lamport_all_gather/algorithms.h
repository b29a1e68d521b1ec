// The algorithms of lamport_all_gather, each ready to be called on the transport of its context.
#pragma once

#include <memory>
#include <string>

#include "harness/collective/collective.h"
#include "kernels/known_bad/variants.h"
#include "kernels/lamport/gather_options.h"

namespace mailbench {

// All that make an Instance are collective and throw the same Error on every rank when they fail on
// any.

// The subject and its faster sibling, on symmetric memory of config.capacity bytes a rank.
std::unique_ptr<Instance> MakeHostGather(const InstanceContext& context, GatherKind kind);
std::unique_ptr<Instance> MakeGpuGather(const InstanceContext& context, GatherKind kind);

// Why ranks that share a GPU cannot gather that much, with the arithmetic; "" when they can.
std::string GpuGatherRefusal(GatherKind kind, const Shape& shape, const RunConfig& config,
                             const Site& site);

// The known-bad ones, on the same memory.
std::unique_ptr<Instance> MakeHostMnnvl(const InstanceContext& context, MnnvlVariant variant);
std::unique_ptr<Instance> MakeGpuMnnvl(const InstanceContext& context, MnnvlVariant variant);
// As GpuGatherRefusal; a rank that has a GPU of its own may be refused too.
std::string GpuMnnvlRefusal(MnnvlVariant variant, const Shape& shape, const RunConfig& config,
                            const Site& site);

// MPI_Allgather, on host memory.
std::unique_ptr<Instance> MakeMpi(const InstanceContext& context);

// ncclAllGather: from plain device memory, and from symmetric windows. REQUIRES:
// context.transport.nccl().
std::unique_ptr<Instance> MakeNccl(const InstanceContext& context);
std::unique_ptr<Instance> MakeNcclSymmetric(const InstanceContext& context);

}  // namespace mailbench
