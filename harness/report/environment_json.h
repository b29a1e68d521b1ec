// The machine, as a report has it.
#pragma once

#include "harness/report/environment.h"
#include "harness/report/json_values.h"

namespace mailbench {

Json EnvironmentJson(const Environment& environment);

}  // namespace mailbench
