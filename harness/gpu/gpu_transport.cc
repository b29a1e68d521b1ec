#include "harness/gpu/gpu_transport.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "harness/command_line/run_config.h"
#include "harness/gpu/device.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/gpu/nccl_comm.h"
#include "harness/gpu/nccl_reference.h"
#include "harness/gpu/nccl_window.h"
#include "harness/gpu/refusals.h"
#include "harness/memory/gpu_region.h"
#include "harness/memory/handle_exchange.h"
#include "harness/ranks/vote_on.h"
#include "harness/report/environment.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLeastExchangeDeadline{10'000};
constexpr std::size_t kTrialWindowBytes = 4096;

const DriverTable& LoadDriverEverywhere(const Ranks& ranks) {
  const DriverTable* driver = nullptr;
  VoteOn(ranks, ExitCode::kMachine, [&] { driver = &LoadDriver(); });
  return *driver;
}

// Collective. Why NCCL's symmetric windows cannot be used, "" when they can: only a trial tells.
std::string TryWindow(const NcclComm& comm) {
  const NcclResult<SymmetricWindow> trial = SymmetricWindow::Create(comm, kTrialWindowBytes);
  if (trial.made) trial.made->Free();
  return trial.reason;
}

std::chrono::milliseconds ExchangeDeadline(const RunConfig& config) {
  return std::max(
      kLeastExchangeDeadline,
      std::chrono::milliseconds(static_cast<std::int64_t>(config.timeout_seconds * 1000)));
}

class GpuTransport : public Transport {
 public:
  GpuTransport(const RunConfig& config, const Ranks& ranks, GpuMemory memory)
      : ranks_(ranks),
        memory_(memory),
        driver_(LoadDriverEverywhere(ranks)),
        device_(ChooseDevice(driver_, ranks, config.ranks_per_gpu)),
        mpi_reference_(ranks) {
    RequireReach(ranks_, memory_, device_.facts_by_rank());
    exchange_ = MakeHandleExchange(driver_, ranks_, ExchangeDeadline(config));
    VoteOn(ranks_, ExitCode::kMachine, [&] { executor_.emplace(driver_); });

    site_.transport = name();
    site_.ranks = ranks.size();
    site_.on_gpu = true;
    site_.multicast = memory_ == GpuMemory::kMulticast;
    site_.ranks_per_gpu = device_.most_ranks_on_a_gpu();
    site_.multiprocessors = device_.fewest_multiprocessors();
    site_.l2_bytes = device_.least_l2_bytes();
    NcclResult<NcclComm> nccl = NcclComm::Create(ranks_, site_.ranks_per_gpu);
    nccl_ = std::move(nccl.made);
    site_.nccl_refusal = nccl.reason;
    if (!nccl_) return;
    site_.windows_refusal = TryWindow(*nccl_);
    nccl_reference_.emplace(*nccl_, *executor_);
  }

  std::string_view name() const override {
    return memory_ == GpuMemory::kMulticast ? "multicast" : "unicast";
  }
  const Site& site() const override { return site_; }
  Executor& executor() override { return *executor_; }
  Reference& reference() override {
    if (nccl_reference_) return *nccl_reference_;
    return mpi_reference_;
  }
  NcclComm* nccl() override { return nccl_.get(); }

  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override {
    if (memory_ == GpuMemory::kMulticast) {
      return AllocateMulticast(driver_, ranks_, device_.index(), bytes, *exchange_);
    }
    return AllocateUnicast(driver_, ranks_, device_.index(), bytes, *exchange_);
  }

  void Describe(Environment& environment) const override {
    environment.gpus = device_.facts_by_rank();
    environment.ranks_per_gpu = site_.ranks_per_gpu;
    environment.nccl_refusal = site_.nccl_refusal;
    if (!nccl_) return;
    environment.nccl_version = NcclVersionText(nccl_->api().version);
    environment.nccl_path = nccl_->api().path;
  }

  void Free() override {
    nccl_reference_.reset();
    if (nccl_) nccl_->Free();
    nccl_.reset();
    executor_.reset();
  }

 private:
  const Ranks& ranks_;
  const GpuMemory memory_;
  const DriverTable& driver_;
  Device device_;
  std::unique_ptr<HandleExchange> exchange_;
  Site site_;
  std::optional<GpuExecutor> executor_;
  MpiReference mpi_reference_;
  std::unique_ptr<NcclComm> nccl_;
  std::optional<NcclReference> nccl_reference_;
};

}  // namespace

std::unique_ptr<Transport> MakeGpuTransport(const RunConfig& config, const Ranks& ranks,
                                            GpuMemory memory) {
  RequireAllowed(ranks, memory);  // before anything that needs a driver: the user has said no
  return std::make_unique<GpuTransport>(config, ranks, memory);
}

}  // namespace mailbench
