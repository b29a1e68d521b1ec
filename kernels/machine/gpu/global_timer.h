// The GPU's clock. For traced kernels and what stands before and behind a timed one: no kernel that
// is timed reads it.
#pragma once

#include <cstdint>

#include "kernels/machine/annotations.h"

namespace mailbench {

// Nanoseconds of %globaltimer, one clock for all processes on a GPU, which steps by the driver's
// choice (PTX ISA, "Special Registers"). Never 0 on a GPU that has been up for a step.
MAILBENCH_DEVICE std::uint64_t ReadGlobalTimer() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

}  // namespace mailbench
