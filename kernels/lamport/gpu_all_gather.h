// The Lamport all-gather on a GPU: one kernel launch a call.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/lamport/protocol.h"

namespace mailbench {

// Launches one call on `stream`, with programmatic stream serialisation: the kernel itself waits
// for what precedes it (griddepcontrol.wait), and permits what follows it once it has published.
// May be captured into a graph. REQUIRES: as protocol.h; with Publish::kMulticast,
// args.mailbox.multicast is a multicast mapping of all mailboxes (16-byte aligned). Throws
// std::invalid_argument for sizes that PlanAllGather refuses; other errors are those of the launch.
cudaError_t LaunchAllGather(const AllGatherArgs& args, Publish publish, cudaStream_t stream);

}  // namespace mailbench
