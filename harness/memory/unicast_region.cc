#include "harness/memory/unicast_region.h"

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "harness/gpu/cuda_error.h"
#include "harness/memory/cumem.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

// All ranks on one host; on several this would be CU_MEM_HANDLE_TYPE_FABRIC.
constexpr CUmemAllocationHandleType kHandleType = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

class UnicastRegion : public SymmetricRegion {
 public:
  UnicastRegion(const DriverTable& driver, const Ranks& ranks, std::vector<MappedMemory> shares,
                SymmetricView view)
      : driver_(driver),
        ranks_(ranks),
        shares_(std::make_unique<std::vector<MappedMemory>>(std::move(shares))),
        view_(std::move(view)) {}

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
    const std::unique_ptr<std::vector<MappedMemory>> shares = std::move(shares_);
    VoteOn(ranks_, ExitCode::kFailed, [&] { ReleaseAll(*shares); });
  }

 private:
  static void ReleaseAll(std::vector<MappedMemory>& shares) {
    std::exception_ptr first;
    for (MappedMemory& share : shares) {
      try {
        share.Release();
      } catch (const Error&) {
        if (!first) first = std::current_exception();
      }
    }
    if (first) std::rethrow_exception(first);
  }

  const DriverTable& driver_;
  const Ranks& ranks_;
  std::unique_ptr<std::vector<MappedMemory>> shares_;  // by rank; null once freed
  SymmetricView view_;
};

std::size_t RoundUp(std::size_t bytes, std::size_t granularity) {
  if (granularity == 0 || bytes > SIZE_MAX - granularity) {
    throw MachineError("cannot round " + std::to_string(bytes) + " bytes up to the granularity " +
                       std::to_string(granularity) + " of GPU memory");
  }
  return (bytes + granularity - 1) / granularity * granularity;
}

// The steps of an allocation, in their order. Each votes; what was made goes when one throws.
class Allocation {
 public:
  Allocation(const DriverTable& driver, const Ranks& ranks, int device)
      : driver_(driver),
        ranks_(ranks),
        device_(device),
        what_(SharedMemoryOn(device, kHandleType)),
        shares_(static_cast<std::size_t>(ranks.size())) {}

  void AgreeOnSize(std::size_t bytes) {
    Step([&] { size_ = RoundUp(bytes, RecommendedGranularity(driver_, what_)); });
    // Devices may differ in it. Exact: a power of two times a number of few bits.
    size_ = static_cast<std::size_t>(ranks_.Max(static_cast<double>(size_)));
  }

  void MakeOwnShare() {
    PhysicalMemory memory;
    Step([&] { memory = CreateMemory(driver_, what_, size_); });
    Step([&] { Own() = MappedMemory(driver_, std::move(memory), size_, device_); });
    Step([&] {
      MAILBENCH_DRIVER(driver_, MemsetD32, Own().address(), 0, size_ / sizeof(std::uint32_t));
      MAILBENCH_DRIVER(driver_, CtxSynchronize);
    });
  }

  void MapPeers(std::chrono::milliseconds deadline, const FdExchangeHooks& hooks) {
    FileDescriptor own_fd;
    Step([&] { own_fd = ExportMemory(driver_, Own().memory()); });
    const std::vector<FileDescriptor> fds = ExchangeFds(ranks_, own_fd.get(), deadline, hooks);
    // Its vote is also the barrier before the first use: all shares are zeroed and mapped by all.
    Step([&] {
      for (std::size_t peer = 0; peer < fds.size(); ++peer) {
        if (!fds[peer].valid()) continue;
        shares_[peer] = MappedMemory(driver_, ImportMemory(driver_, fds[peer]), size_, device_);
      }
    });
  }

  std::unique_ptr<SymmetricRegion> Finish(std::size_t bytes) {
    SymmetricView view;
    view.bytes = bytes;
    view.rank = ranks_.rank();
    for (const MappedMemory& share : shares_) {
      view.peers.push_back(reinterpret_cast<std::byte*>(share.address()));
    }
    return std::make_unique<UnicastRegion>(driver_, ranks_, std::move(shares_), std::move(view));
  }

 private:
  MappedMemory& Own() { return shares_[static_cast<std::size_t>(ranks_.rank())]; }

  template <typename Call>
  void Step(Call&& call) const {
    VoteOn(ranks_, ExitCode::kMachine, std::forward<Call>(call));
  }

  const DriverTable& driver_;
  const Ranks& ranks_;
  const int device_;
  const CUmemAllocationProp what_;
  std::size_t size_ = 0;              // of each share, as the driver counts it
  std::vector<MappedMemory> shares_;  // by rank
};

}  // namespace

std::unique_ptr<SymmetricRegion> AllocateUnicast(const DriverTable& driver, const Ranks& ranks,
                                                 int device, std::size_t bytes,
                                                 std::chrono::milliseconds deadline,
                                                 const FdExchangeHooks& hooks) {
  Allocation allocation(driver, ranks, device);
  allocation.AgreeOnSize(bytes);
  allocation.MakeOwnShare();
  allocation.MapPeers(deadline, hooks);
  return allocation.Finish(bytes);
}

}  // namespace mailbench
