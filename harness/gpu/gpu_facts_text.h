// GpuFacts as text, to travel between ranks, and what of them is shown as text. Free of CUDA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/gpu/gpu_facts.h"

namespace mailbench {

std::string WriteGpuFacts(const GpuFacts& facts);
// REQUIRES: `text` is what WriteGpuFacts made, of the same build.
GpuFacts ReadGpuFacts(const std::string& text);

// "13.0" for 13000: 1000 * major + 10 * minor (cuDriverGetVersion).
std::string CudaVersionText(int version);

// "completed" for kFabricCompleted and so on; "state 9" for what nvml.h of CUDA 13.0 does not know.
std::string FabricStateText(int state);

// What is not healthy with the GPU's NVLink fabric, in words; empty when nothing is. Fields of the
// mask and their values as nvml.h of CUDA 13.0 has them (NVML_GPU_FABRIC_HEALTH_MASK_*): four of
// two bits (0 not supported, 1 true, 2 false) and the configuration's four bits. A value that it
// does not know is not healthy; bits beyond its fields do not count.
std::vector<std::string> FabricTroubles(std::uint32_t health_mask);

// "0x000001aa".
std::string HealthMaskText(std::uint32_t health_mask);

}  // namespace mailbench
