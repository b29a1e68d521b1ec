#include "harness/memory/gpu_region.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include "harness/gpu/cuda_error.h"
#include "harness/memory/cumem.h"
#include "harness/memory/multicast_object.h"
#include "harness/memory/peer_shares.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

// What a region owns. In this order: the object goes while the memory bound to it is alive.
struct GpuShares {
  PeerShares shares;
  std::optional<MulticastObject> object;
};

class GpuRegion : public SymmetricRegion {
 public:
  GpuRegion(const DriverTable& driver, const Ranks& ranks, std::unique_ptr<GpuShares> memory,
            std::size_t bytes)
      : driver_(driver),
        ranks_(ranks),
        view_(memory->shares.View(bytes, ranks.rank())),
        memory_(std::move(memory)) {
    if (!memory_->object) return;
    view_.multicast = reinterpret_cast<MulticastPack*>(memory_->object->address());
  }

  ~GpuRegion() override {
    if (!memory_) return;
    // A kernel, here or on a peer, may still use what was never freed by all together.
    static_cast<void>(memory_.release());
    if (std::uncaught_exceptions() == 0) {
      std::fprintf(stderr, "mailbench: rank %d leaves %zu bytes of GPU memory to the driver\n",
                   view_.rank, view_.bytes);
    }
  }

  const SymmetricView& view() const override { return view_; }

  void Free() override {
    if (!memory_) return;
    // The vote is the barrier: no rank's kernels use any address after it.
    VoteOn(ranks_, ExitCode::kMachine, [&] { MAILBENCH_DRIVER(driver_, CtxSynchronize); });
    view_ = SymmetricView{};
    const std::unique_ptr<GpuShares> memory = std::move(memory_);
    Attempts all;
    if (memory->object) {
      all.Try([&] { memory->object->Release(); });
      ranks_.Barrier();  // no rank's memory goes while another's object may still reach it
    }
    all.Try([&] { memory->shares.Release(); });
    VoteOn(ranks_, ExitCode::kMachine, [&] { all.RethrowFirst(); });
  }

 private:
  const DriverTable& driver_;
  const Ranks& ranks_;
  SymmetricView view_;
  std::unique_ptr<GpuShares> memory_;  // null once freed
};

}  // namespace

std::unique_ptr<SymmetricRegion> AllocateUnicast(const DriverTable& driver, const Ranks& ranks,
                                                 int device, std::size_t bytes,
                                                 HandleExchange& exchange) {
  std::size_t granularity = 0;
  VoteOn(ranks, ExitCode::kMachine, [&] {
    granularity = RecommendedGranularity(driver, SharedMemoryOn(device, exchange.type()));
  });
  const std::size_t size = AgreeOnSize(ranks, bytes, granularity);
  auto memory = std::make_unique<GpuShares>();
  memory->shares = AllocateShares(driver, ranks, device, size, exchange);
  return std::make_unique<GpuRegion>(driver, ranks, std::move(memory), bytes);
}

std::unique_ptr<SymmetricRegion> AllocateMulticast(const DriverTable& driver, const Ranks& ranks,
                                                   int device, std::size_t bytes,
                                                   HandleExchange& exchange,
                                                   const BindRetry& retry) {
  std::size_t granularity = 0;
  VoteOn(ranks, ExitCode::kMachine, [&] {
    granularity = std::max(RecommendedGranularity(driver, SharedMemoryOn(device, exchange.type())),
                           MulticastGranularity(driver, ranks.size(), bytes, exchange.type()));
  });
  const std::size_t size = AgreeOnSize(ranks, bytes, granularity);
  auto memory = std::make_unique<GpuShares>();
  memory->shares = AllocateShares(driver, ranks, device, size, exchange);
  memory->object.emplace(driver, ranks, device, memory->shares, granularity, exchange, retry);
  return std::make_unique<GpuRegion>(driver, ranks, std::move(memory), bytes);
}

}  // namespace mailbench
