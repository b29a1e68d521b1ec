// Ranks as threads of one process: counters end where they must, whatever follows what.
#include "kernels/fabric_floor/host_floor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "kernels/fabric_floor/protocol.h"
#include "kernels/machine/host/late_stores.h"

namespace mailbench {
namespace {

// The shares and states of all ranks.
class Ranks {
 public:
  Ranks(int ranks, bool multicast) : layout_{ranks}, multicast_(multicast) {
    for (int rank = 0; rank < ranks; ++rank) {
      shares_.emplace_back(layout_.bytes() / sizeof(Pack), Pack{});
      states_.push_back(std::make_unique<FloorState>());
    }
  }

  // Runs `calls` on every rank, each with as many rounds.
  void Run(const std::vector<FloorKind>& calls, std::uint32_t rounds,
           const std::atomic<bool>* give_up = nullptr) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < layout_.ranks; ++rank) {
      threads.emplace_back([&, rank] { RunRank(rank, calls, rounds, give_up); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void RunRank(int rank, const std::vector<FloorKind>& calls, std::uint32_t rounds,
               const std::atomic<bool>* give_up) {
    LateStores late(static_cast<std::uint64_t>(rank));
    FloorArgs args;
    args.layout = layout_;
    args.rank = rank;
    args.rounds = rounds;
    args.state = states_[static_cast<std::size_t>(rank)].get();
    args.local = shares_[static_cast<std::size_t>(rank)].data();
    std::vector<Pack*> shares;
    for (std::size_t peer = 0; peer < shares_.size(); ++peer) {
      args.peers[peer] = shares_[peer].data();
      shares.push_back(shares_[peer].data());
    }
    HostMulticast multicast(shares, late);
    if (multicast_) args.multicast = multicast.address();
    HostStream stream;
    stream.Delay(&late);
    if (give_up != nullptr) stream.runner().GiveUpWhen(give_up);
    for (const FloorKind kind : calls) EnqueueFloor(kind, args, stream);
    stream.Synchronize();
  }

  const FloorState& state(int rank) const { return *states_[static_cast<std::size_t>(rank)]; }
  std::uint32_t counter(int rank, FloorKind kind, int source) const {
    return shares_[static_cast<std::size_t>(rank)]
                  [static_cast<std::size_t>(layout_.Counter(kind, source))]
                      .word[0];
  }

 private:
  FloorLayout layout_;
  bool multicast_;
  std::vector<std::vector<Pack>> shares_;
  std::vector<std::unique_ptr<FloorState>> states_;
};

const std::vector<FloorKind> kAll = {FloorKind::kHop, FloorKind::kPublishToAll,
                                     FloorKind::kEmptyKernel, FloorKind::kPublishToAll,
                                     FloorKind::kHop};

TEST(Floor, EveryRankSeesEveryRound) {
  for (const int size : {1, 2, 3, 5}) {
    for (const bool multicast : {false, true}) {
      Ranks ranks(size, multicast);
      ranks.Run(kAll, 20);
      ranks.Run(kAll, 3);
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_EQ(ranks.state(rank).hops, 46u);
        EXPECT_EQ(ranks.state(rank).publishes, 46u);
        for (int source = 0; source < size; ++source) {
          EXPECT_EQ(ranks.counter(rank, FloorKind::kPublishToAll, source), 46u);
        }
        const int partner = FloorPartner(rank, size);
        EXPECT_EQ(ranks.counter(rank, FloorKind::kHop, partner), 46u);
      }
    }
  }
}

TEST(Floor, PartnersArePairs) {
  for (int size = 1; size <= kMaxRanks; ++size) {
    for (int rank = 0; rank < size; ++rank) {
      const int partner = FloorPartner(rank, size);
      ASSERT_LT(partner, size);
      EXPECT_EQ(FloorPartner(partner, size), rank);
    }
    EXPECT_EQ(FloorPartner(0, size), size == 1 ? 0 : 1);
  }
}

TEST(Floor, NoTwoSourcesShareALine) {
  const FloorLayout layout{kMaxRanks};
  std::vector<bool> taken(layout.bytes() / 128, false);
  for (const FloorKind kind : {FloorKind::kHop, FloorKind::kPublishToAll}) {
    for (int source = 0; source < kMaxRanks; ++source) {
      const auto line = static_cast<std::size_t>(layout.Counter(kind, source)) * kPackBytes / 128;
      ASSERT_LT(line, taken.size());
      EXPECT_FALSE(taken[line]);
      taken[line] = true;
    }
  }
}

// Nobody answers: the call ends once the run is given up; what it counts then means nothing.
TEST(Floor, GivesUp) {
  for (const FloorKind kind : {FloorKind::kHop, FloorKind::kPublishToAll}) {
    Ranks ranks(2, /*multicast=*/false);
    const std::atomic<bool> give_up = true;
    ranks.RunRank(0, {kind}, 5, &give_up);
    EXPECT_EQ(ranks.counter(0, kind, 1), 0u);
  }
}

}  // namespace
}  // namespace mailbench
