// The all-gathers as models for the checker.
#pragma once

#include <vector>

#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// "lamport", "overlapped", "overlapped-acq-rel", "overlapped-after-publish", "lamport-alias-fence"
// and "overlapped-alias-fence".
std::vector<Model> LamportModels();

}  // namespace mailbench
