// The all-gathers as models for the checker.
#pragma once

#include <vector>

#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// "lamport", "overlapped" and "overlapped-acq-rel".
std::vector<Model> LamportModels();

}  // namespace mailbench
