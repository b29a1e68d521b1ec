// Payloads in host memory.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/stress/payload.h"

namespace mailbench {

// A word that many payloads hold, so that it does not tell where it comes from.
bool IsHardWord(std::uint32_t word);

void FillPayload(std::span<std::uint32_t> words, std::uint64_t seed, std::uint64_t call, int rank);

}  // namespace mailbench
