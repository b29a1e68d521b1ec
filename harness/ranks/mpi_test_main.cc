#include <gtest/gtest.h>

#include "harness/ranks/mpi_ranks.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

Ranks* g_ranks = nullptr;

}  // namespace

Ranks& TestRanks() { return *g_ranks; }

}  // namespace mailbench

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  mailbench::MpiRanks ranks(&argc, &argv);
  mailbench::g_ranks = &ranks;
  const int failed = RUN_ALL_TESTS();
  ranks.Finalize();
  return failed;
}
