// The all-gathers on a GPU: one kernel launch a call.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/lamport/gather_options.h"
#include "kernels/lamport/protocol.h"

namespace mailbench {

// Launches one call on `stream`, with programmatic stream serialisation: the kernel itself waits
// for what precedes it (griddepcontrol.wait), and after that permits what follows it (see Trigger).
// May be captured into a graph; the abort word's address, like `args`, is frozen into it.
// REQUIRES: as protocol.h; unless Publish::kUnicast, args.mailbox.multicast is a multicast
// mapping of all mailboxes (16-byte aligned). Throws std::invalid_argument for sizes that
// PlanAllGather refuses; other errors are those of the launch.
cudaError_t LaunchAllGather(const AllGatherArgs& args, const GatherOptions& options,
                            cudaStream_t stream);

// How many CTAs of the call's kernel one multiprocessor of the current device holds at a time.
// REQUIRES: `poll_batch` is one of PlanAllGather's. Errors are those of
// cudaOccupancyMaxActiveBlocksPerMultiprocessor.
cudaError_t AllGatherCtasPerSm(const GatherOptions& options, int poll_batch, int* ctas);

// The same call by kernels that also mark when they do what: see kernels/machine/trace.h. Slower;
// never timed. REQUIRES: trace.times, in memory of the device, has TraceView::Words(ranks, threads
// of the plan) words, zeroed once; trace.threads is that of the plan. They stay until it has ended.
cudaError_t LaunchTracedAllGather(const AllGatherArgs& args, const TraceView& trace,
                                  const GatherOptions& options, cudaStream_t stream);
cudaError_t TracedAllGatherCtasPerSm(const GatherOptions& options, int poll_batch, int* ctas);

}  // namespace mailbench
