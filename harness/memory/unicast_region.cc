#include "harness/memory/unicast_region.h"

#include <cstdio>
#include <exception>
#include <utility>

#include "harness/gpu/cuda_error.h"
#include "harness/memory/cumem.h"
#include "harness/memory/peer_shares.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

class UnicastRegion : public SymmetricRegion {
 public:
  UnicastRegion(const DriverTable& driver, const Ranks& ranks, PeerShares shares, std::size_t bytes)
      : driver_(driver),
        ranks_(ranks),
        view_(shares.View(bytes, ranks.rank())),
        shares_(std::make_unique<PeerShares>(std::move(shares))) {}

  ~UnicastRegion() override {
    if (!shares_) return;
    // A kernel, here or on a peer, may still use what was never freed by all together.
    static_cast<void>(shares_.release());
    if (std::uncaught_exceptions() == 0) {
      std::fprintf(stderr, "mailbench: rank %d leaves %zu bytes of GPU memory to the driver\n",
                   view_.rank, view_.bytes);
    }
  }

  const SymmetricView& view() const override { return view_; }

  void Free() override {
    if (!shares_) return;
    // The vote is the barrier: no rank's kernels use any share after it.
    VoteOn(ranks_, ExitCode::kFailed, [&] { MAILBENCH_DRIVER(driver_, CtxSynchronize); });
    view_ = SymmetricView{};
    const std::unique_ptr<PeerShares> shares = std::move(shares_);
    VoteOn(ranks_, ExitCode::kFailed, [&] { shares->Release(); });
  }

 private:
  const DriverTable& driver_;
  const Ranks& ranks_;
  SymmetricView view_;
  std::unique_ptr<PeerShares> shares_;  // null once freed
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
  return std::make_unique<UnicastRegion>(
      driver, ranks, AllocateShares(driver, ranks, device, size, exchange), bytes);
}

}  // namespace mailbench
