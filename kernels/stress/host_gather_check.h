// The check of all-gathers on the host machine, by one thread: see gather_check.h.
#pragma once

#include "kernels/stress/gather_check.h"

namespace mailbench {

void FillInputsOnHost(const CheckedBatch& batch);
void CheckOutputsOnHost(const CheckedBatch& batch);

}  // namespace mailbench
