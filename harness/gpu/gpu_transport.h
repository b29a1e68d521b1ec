// Transports `unicast` and `multicast`: GPU memory that every rank maps, and calls on a CUDA
// stream. A word reaches all ranks with one store a peer, or with one store in all. This header
// needs no CUDA; built without a toolkit, the function always refuses.
#pragma once

#include <memory>

#include "harness/memory/transport.h"

namespace mailbench {

class Ranks;
struct RunConfig;

enum class GpuMemory { kUnicast, kMulticast };

// Collective. Each rank takes its GPU (see ChooseDevice, with config.ranks_per_gpu) and starts NCCL
// where it can run. Throws MachineError on every rank alike when any rank cannot have the
// transport; multicast also where the environment forbids it on any rank, or MulticastRefusal has
// something against it. Makes no multicast object: that is for Allocate, which alone can tell
// whether the system really has multicast.
std::unique_ptr<Transport> MakeGpuTransport(const RunConfig& config, const Ranks& ranks,
                                            GpuMemory memory);

}  // namespace mailbench
