#include "harness/memory/peer_shares.h"

#include <cstdint>
#include <string>
#include <utility>

#include "harness/gpu/cuda_error.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

std::size_t RoundUp(std::size_t bytes, std::size_t granularity) {
  if (granularity == 0 || bytes > SIZE_MAX - granularity) {
    throw MachineError("cannot round " + std::to_string(bytes) + " bytes up to the granularity " +
                       std::to_string(granularity) + " of GPU memory");
  }
  return (bytes + granularity - 1) / granularity * granularity;
}

}  // namespace

SymmetricView PeerShares::View(std::size_t asked, int rank) const {
  SymmetricView view;
  view.bytes = asked;
  view.rank = rank;
  for (const MappedMemory& share : by_rank) {
    view.peers.push_back(reinterpret_cast<std::byte*>(share.address()));
  }
  return view;
}

void PeerShares::Release() {
  Attempts all;
  for (MappedMemory& share : by_rank) all.Try([&] { share.Release(); });
  all.RethrowFirst();
}

std::size_t AgreeOnSize(const Ranks& ranks, std::size_t bytes, std::size_t granularity) {
  // Exact as doubles: powers of two, and below a few bits times one.
  granularity = static_cast<std::size_t>(ranks.Max(static_cast<double>(granularity)));
  VoteOn(ranks, ExitCode::kMachine, [&] { bytes = RoundUp(bytes, granularity); });
  return static_cast<std::size_t>(ranks.Max(static_cast<double>(bytes)));
}

PeerShares AllocateShares(const DriverTable& driver, const Ranks& ranks, int device,
                          std::size_t bytes, HandleExchange& exchange) {
  const auto step = [&](auto&& call) { VoteOn(ranks, ExitCode::kMachine, call); };
  PeerShares shares;
  shares.bytes = bytes;
  shares.by_rank.resize(static_cast<std::size_t>(ranks.size()));
  MappedMemory& own = shares.by_rank[static_cast<std::size_t>(ranks.rank())];

  PhysicalMemory memory;
  step([&] { memory = CreateMemory(driver, SharedMemoryOn(device, exchange.type()), bytes); });
  step([&] { own = MappedMemory(driver, std::move(memory), bytes, device); });
  step([&] {
    MAILBENCH_DRIVER(driver, MemsetD32, own.address(), 0, bytes / sizeof(std::uint32_t));
    MAILBENCH_DRIVER(driver, CtxSynchronize);
  });

  std::vector<PhysicalMemory> peers = exchange.ShareAll(own.memory().object());
  step([&] {
    for (std::size_t peer = 0; peer < peers.size(); ++peer) {
      if (static_cast<int>(peer) == ranks.rank()) continue;
      shares.by_rank[peer] = MappedMemory(driver, std::move(peers[peer]), bytes, device);
    }
  });
  return shares;
}

}  // namespace mailbench
