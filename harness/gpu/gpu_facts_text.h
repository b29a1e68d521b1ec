// GpuFacts as text, to travel between ranks.
#pragma once

#include <string>

#include "harness/gpu/gpu_facts.h"

namespace mailbench {

std::string WriteGpuFacts(const GpuFacts& facts);
// REQUIRES: `text` is what WriteGpuFacts made, of the same build.
GpuFacts ReadGpuFacts(const std::string& text);

}  // namespace mailbench
