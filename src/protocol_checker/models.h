// The protocols that the checker knows.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// In the order of --list.
std::vector<Model> RegisteredModels();

// Null when there is no such protocol.
const Model* FindModel(const std::vector<Model>& models, std::string_view name);

}  // namespace mailbench
