// For tests: says what a plain load or store at a multicast address is, before the process dies of
// it. Such an access is undefined on a GPU (PTX ISA, "Multicast Addresses").
#pragma once

#include <cuda.h>

#include <cstddef>

namespace mailbench {

// An access to these inaccessible bytes is named on stderr and ends the process with SIGSEGV.
// False: too many ranges.
bool GuardMulticastRange(CUdeviceptr start, std::size_t bytes);
// Nothing when there is none.
void UnguardMulticastRange(CUdeviceptr start);

}  // namespace mailbench
