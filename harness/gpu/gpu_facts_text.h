// GpuFacts as text, to travel between ranks, and what of them is shown as text. Free of CUDA.
#pragma once

#include <string>

#include "harness/gpu/gpu_facts.h"

namespace mailbench {

std::string WriteGpuFacts(const GpuFacts& facts);
// REQUIRES: `text` is what WriteGpuFacts made, of the same build.
GpuFacts ReadGpuFacts(const std::string& text);

// "13.0" for 13000: 1000 * major + 10 * minor (cuDriverGetVersion).
std::string CudaVersionText(int version);

}  // namespace mailbench
