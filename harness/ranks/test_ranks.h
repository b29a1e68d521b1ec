// The ranks of a test under mpirun: mpi_test_main.cc, which mailbench_test(... RANKS ...) links,
// starts MPI before the first test and ends it after the last.
#pragma once

#include "harness/ranks/ranks.h"

namespace mailbench {

Ranks& TestRanks();  // REQUIRES: main has begun

}  // namespace mailbench
