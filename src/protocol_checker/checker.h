// The checker as a program: flags in, exit code out.
#pragma once

#include <vector>

#include "kernels/machine/adversary/scenario.h"

namespace mailbench {

// Prints to standard output; errors to standard error, one line. Returns the exit code.
int RunChecker(int argc, const char* const* argv, const std::vector<Model>& models);

}  // namespace mailbench
