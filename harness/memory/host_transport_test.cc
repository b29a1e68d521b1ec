// Under mpirun: every rank's share is its own, aligned, and seen by all.
#include "harness/memory/host_transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/memory/transport.h"
#include "harness/ranks/test_ranks.h"
#include "kernels/machine/host/host_machine.h"

namespace mailbench {
namespace {

TEST(HostTransport, SharesAreAlignedZeroedAndSeenByAll) {
  HostTransport transport(TestRanks());
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{1000}, std::size_t{3} << 20}) {
    const auto region = transport.Allocate(bytes);
    const SymmetricView& view = region->view();
    ASSERT_EQ(view.peers.size(), static_cast<std::size_t>(TestRanks().size()));
    EXPECT_EQ(view.rank, TestRanks().rank());
    EXPECT_EQ(view.bytes, bytes);
    EXPECT_EQ(view.multicast, nullptr);
    for (std::byte* peer : view.peers) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(peer) % kSymmetricAlignment, 0u);
    }
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(view.local()[i], std::byte{0}) << i;
    TestRanks().Barrier();

    // Each rank writes the whole of its successor's share.
    const auto next = static_cast<std::size_t>((TestRanks().rank() + 1) % TestRanks().size());
    std::memset(view.peers[next], TestRanks().rank() + 1, bytes);
    TestRanks().Barrier();
    const int writer = (TestRanks().rank() + TestRanks().size() - 1) % TestRanks().size();
    for (std::size_t i = 0; i < bytes; ++i) {
      ASSERT_EQ(view.local()[i], static_cast<std::byte>(writer + 1)) << i;
    }
    TestRanks().Barrier();
    region->Free();
  }
}

TEST(HostTransport, AMulticastStoreReachesEveryShare) {
  HostTransport transport(TestRanks(), /*seed=*/1);
  EXPECT_EQ(transport.name(), "host-multicast");
  EXPECT_EQ(transport.site().transport, "host-multicast");
  const auto ranks = static_cast<std::size_t>(TestRanks().size());
  const auto region = transport.Allocate(ranks * sizeof(Pack));
  const SymmetricView& view = region->view();
  ASSERT_NE(view.multicast, nullptr);
  const auto own = static_cast<std::uint32_t>(view.rank) + 1;
  transport.executor().Time(1, [&] {
    transport.executor().host_stream()->Launch([&](GridRunner& runner) {
      runner.Run({1, 1}, 0, [&](HostThread& thread) {
        HostMachine(thread).multimem_store_relaxed_sys_v4_f32(view.multicast, view.rank,
                                                              {{own, own, own, own}});
      });
    });
  });
  // Nothing is on its way any more once what was timed has ended.
  TestRanks().Barrier();
  const auto* share = reinterpret_cast<const std::uint32_t*>(view.local());
  for (std::size_t i = 0; i < ranks * kPackWords; ++i) {
    EXPECT_EQ(share[i], i / kPackWords + 1) << i;
  }
  TestRanks().Barrier();
  region->Free();
  EXPECT_EQ(region->view().multicast, nullptr);
}

TEST(HostTransport, APartIsThatMuchOfEveryShare) {
  HostTransport transport(TestRanks(), /*seed=*/1);
  const auto ranks = static_cast<std::size_t>(TestRanks().size());
  const auto region = transport.Allocate(2 * kSymmetricAlignment + ranks * sizeof(Pack));
  const SymmetricView part = region->Part(2 * kSymmetricAlignment, ranks * sizeof(Pack));
  EXPECT_EQ(part.bytes, ranks * sizeof(Pack));
  EXPECT_EQ(part.rank, TestRanks().rank());
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    EXPECT_EQ(part.peers[peer], region->view().peers[peer] + 2 * kSymmetricAlignment);
  }
  const auto own = static_cast<std::uint32_t>(part.rank) + 1;
  transport.executor().Time(1, [&] {
    transport.executor().host_stream()->Launch([&](GridRunner& runner) {
      runner.Run({1, 1}, 0, [&](HostThread& thread) {
        HostMachine(thread).multimem_store_relaxed_sys_v4_f32(part.multicast, part.rank,
                                                              {{own, own, own, own}});
      });
    });
  });
  TestRanks().Barrier();
  const auto* share = reinterpret_cast<const std::uint32_t*>(part.local());
  for (std::size_t i = 0; i < ranks * kPackWords; ++i) {
    EXPECT_EQ(share[i], i / kPackWords + 1) << i;
  }
  TestRanks().Barrier();
  region->Free();
}

TEST(HostTransport, RefusesMoreThanTheHostHasOnEveryRank) {
  HostTransport transport(TestRanks());
  try {
    transport.Allocate(std::size_t{1} << 50);
    FAIL() << "allocated a pebibyte";
  } catch (const MachineError& error) {
    EXPECT_NE(std::string(error.what()).find("/dev/shm"), std::string::npos) << error.what();
  }
}

TEST(ChooseTransport, AutoTakesHostAndSaysWhyNothingBetter) {
  const TransportChoice choice = ChooseTransport({}, TestRanks());
  ASSERT_NE(choice.transport, nullptr);
  EXPECT_EQ(choice.transport->name(), "host");
  ASSERT_EQ(choice.refused.size(), 2u);
  EXPECT_EQ(choice.refused[0].transport, "multicast");
  EXPECT_EQ(choice.refused[1].transport, "unicast");
  for (const RefusedTransport& refused : choice.refused) EXPECT_FALSE(refused.reason.empty());
}

TEST(ChooseTransport, AutoLooksForMulticastOnlyWhereItIsWanted) {
  const TransportChoice choice = ChooseTransport({}, TestRanks(), /*wants_multicast=*/false);
  ASSERT_FALSE(choice.refused.empty());
  EXPECT_EQ(choice.refused[0].transport, "multicast");
  EXPECT_EQ(choice.refused[0].reason, "no algorithm of this run stores to all ranks at once");
}

TEST(ChooseTransport, DoesNotFallBackFromATransportThatWasNamed) {
  RunConfig config;
  config.transport = "host";
  EXPECT_EQ(ChooseTransport(config, TestRanks()).transport->name(), "host");
  config.transport = "host-multicast";
  EXPECT_EQ(ChooseTransport(config, TestRanks()).transport->name(), "host-multicast");
  config.transport = "multicast";
  EXPECT_THROW(ChooseTransport(config, TestRanks()), MachineError);
}

}  // namespace
}  // namespace mailbench
