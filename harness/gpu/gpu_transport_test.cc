// Under mpirun: what refuses a transport before any GPU is looked at, and that all ranks say the
// same. No multicast object is made, whatever the machine.
#include "harness/gpu/gpu_transport.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

// Forbids multicast on the last rank, and allows it on the others.
void ForbidOnLastRank() {
  unsetenv("NCCL_NVLS_ENABLE");
  setenv("MAILBENCH_NCCL", "none", 1);  // which would not ask
  setenv("MAILBENCH_MULTICAST", TestRanks().rank() == TestRanks().size() - 1 ? "0" : "1", 1);
}

TEST(GpuTransport, MulticastThatOneRankForbidsIsRefusedOnAll) {
  ForbidOnLastRank();
  RunConfig config;
  config.transport = "multicast";
  std::string text;
  try {
    ChooseTransport(config, TestRanks());
  } catch (const MachineError& error) {
    text = error.what();
  }
  EXPECT_NE(text.find("MAILBENCH_MULTICAST=0 forbids it"), std::string::npos) << text;
  for (const std::string& other : TestRanks().Gather(text)) EXPECT_EQ(other, text);
}

TEST(GpuTransport, AutoSaysThatMulticastIsForbidden) {
  ForbidOnLastRank();
  const TransportChoice choice = ChooseTransport({}, TestRanks());
  ASSERT_FALSE(choice.refused.empty());
  EXPECT_EQ(choice.refused[0].transport, "multicast");
  EXPECT_NE(choice.refused[0].reason.find("MAILBENCH_MULTICAST=0 forbids it"), std::string::npos)
      << choice.refused[0].reason;
  EXPECT_NE(choice.transport->name(), "multicast");
  choice.transport->Free();
}

}  // namespace
}  // namespace mailbench
