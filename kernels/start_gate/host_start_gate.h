// The start gate on the host machine.
#pragma once

#include <cstdint>

#include "kernels/machine/host/grid.h"
#include "kernels/start_gate/layout.h"

namespace mailbench {

// Both run to their end before they return. REQUIRES: as protocol.h.
void AwaitReleaseOnHost(const Latch* own, std::uint32_t generation, GridRunner& runner);
void ReleaseOnHost(const StartGateView& gate, std::uint32_t generation, GridRunner& runner);

}  // namespace mailbench
