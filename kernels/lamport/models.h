// The all-gathers as models for the checker.
#pragma once

#include <vector>

#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// "lamport", "overlapped", "overlapped-acq-rel" and "overlapped-after-publish".
std::vector<Model> LamportModels();

}  // namespace mailbench
