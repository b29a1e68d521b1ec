// Gathers that break one rule each, for the tests of the checker itself.
#pragma once

#include <vector>

#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// "unreset": the mailbox is not reset. "torn": a pack counts as arrived with its first word.
// "deaf": it waits for what nobody publishes.
std::vector<Model> FaultyModels();

}  // namespace mailbench
