// Under mpirun: every rank's share is its own, aligned, and seen by all.
#include "harness/memory/host_transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"

namespace mailbench {
namespace {

Ranks* ranks = nullptr;

TEST(HostTransport, SharesAreAlignedZeroedAndSeenByAll) {
  HostTransport transport(*ranks);
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{1000}, std::size_t{3} << 20}) {
    const auto region = transport.Allocate(bytes);
    const SymmetricView& view = region->view();
    ASSERT_EQ(view.peers.size(), static_cast<std::size_t>(ranks->size()));
    EXPECT_EQ(view.rank, ranks->rank());
    EXPECT_EQ(view.bytes, bytes);
    EXPECT_EQ(view.multicast, nullptr);
    for (std::byte* peer : view.peers) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(peer) % kSymmetricAlignment, 0u);
    }
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(view.local()[i], std::byte{0}) << i;
    ranks->Barrier();

    // Each rank writes the whole of its successor's share.
    const auto next = static_cast<std::size_t>((ranks->rank() + 1) % ranks->size());
    std::memset(view.peers[next], ranks->rank() + 1, bytes);
    ranks->Barrier();
    const int writer = (ranks->rank() + ranks->size() - 1) % ranks->size();
    for (std::size_t i = 0; i < bytes; ++i) {
      ASSERT_EQ(view.local()[i], static_cast<std::byte>(writer + 1)) << i;
    }
    ranks->Barrier();
    region->Free();
  }
}

TEST(HostTransport, RefusesMoreThanTheHostHasOnEveryRank) {
  HostTransport transport(*ranks);
  try {
    transport.Allocate(std::size_t{1} << 50);
    FAIL() << "allocated a pebibyte";
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/shm"), std::string::npos) << error.what();
  }
}

TEST(ChooseTransport, AutoTakesHostAndSaysWhyNothingBetter) {
  const TransportChoice choice = ChooseTransport({}, *ranks);
  ASSERT_NE(choice.transport, nullptr);
  EXPECT_EQ(choice.transport->name(), "host");
  ASSERT_EQ(choice.refused.size(), 2u);
  EXPECT_EQ(choice.refused[0].transport, "multicast");
  EXPECT_EQ(choice.refused[1].transport, "unicast");
  for (const RefusedTransport& refused : choice.refused) EXPECT_FALSE(refused.reason.empty());
}

TEST(ChooseTransport, DoesNotFallBackFromATransportThatWasNamed) {
  RunConfig config;
  config.transport = "host";
  EXPECT_EQ(ChooseTransport(config, *ranks).transport->name(), "host");
  for (const char* name : {"multicast", "host-multicast"}) {
    config.transport = name;
    EXPECT_THROW(ChooseTransport(config, *ranks), MachineError) << name;
  }
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  mailbench::Ranks ranks(&argc, &argv);
  mailbench::ranks = &ranks;
  const int failed = RUN_ALL_TESTS();
  ranks.Finalize();
  return failed;
}
