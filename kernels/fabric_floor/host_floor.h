// The floor's kernels on the host machine.
#pragma once

#include "kernels/fabric_floor/layout.h"
#include "kernels/machine/host/stream.h"

namespace mailbench {

// Enqueues one call. What `args` points to outlives the call and every graph that holds it.
// Publishes by multicast where args has it (a HostMulticast).
void EnqueueFloor(FloorKind kind, const FloorArgs& args, HostStream& stream);

}  // namespace mailbench
