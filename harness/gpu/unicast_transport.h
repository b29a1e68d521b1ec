// Transport `unicast`: GPU memory that every rank of a host maps, one store a peer, and calls on a
// CUDA stream. This header needs no CUDA; built without a toolkit, the function always refuses.
#pragma once

#include <memory>

#include "harness/memory/transport.h"

namespace mailbench {

class Ranks;
struct RunConfig;

// Collective. Each rank takes its GPU (see ChooseDevice, with config.ranks_per_gpu) and starts NCCL
// where it can run. Throws MachineError on every rank alike when any rank cannot have the
// transport.
std::unique_ptr<Transport> MakeUnicastTransport(const RunConfig& config, const Ranks& ranks);

}  // namespace mailbench
