#include "harness/gpu/unicast_transport.h"

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
#include "harness/memory/handle_exchange.h"
#include "harness/memory/unicast_region.h"
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

class UnicastTransport : public Transport {
 public:
  UnicastTransport(const RunConfig& config, const Ranks& ranks)
      : ranks_(ranks),
        driver_(LoadDriverEverywhere(ranks)),
        device_(ChooseDevice(driver_, ranks, config.ranks_per_gpu)),
        exchange_deadline_(std::max(
            kLeastExchangeDeadline,
            std::chrono::milliseconds(static_cast<std::int64_t>(config.timeout_seconds * 1000)))),
        mpi_reference_(ranks) {
    VoteOn(ranks_, ExitCode::kMachine, [&] { executor_.emplace(driver_); });

    site_.transport = name();
    site_.ranks = ranks.size();
    site_.on_gpu = true;
    site_.ranks_per_gpu = device_.most_ranks_on_a_gpu();
    site_.multiprocessors = device_.fewest_multiprocessors();
    NcclResult<NcclComm> nccl = NcclComm::Create(ranks_, site_.ranks_per_gpu);
    nccl_ = std::move(nccl.made);
    site_.nccl_refusal = nccl.reason;
    if (!nccl_) return;
    site_.windows_refusal = TryWindow(*nccl_);
    nccl_reference_.emplace(*nccl_, *executor_);
  }

  std::string_view name() const override { return "unicast"; }
  const Site& site() const override { return site_; }
  Executor& executor() override { return *executor_; }
  Reference& reference() override {
    if (nccl_reference_) return *nccl_reference_;
    return mpi_reference_;
  }
  NcclComm* nccl() override { return nccl_.get(); }

  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override {
    const auto exchange = MakeHandleExchange(driver_, ranks_, exchange_deadline_);
    return AllocateUnicast(driver_, ranks_, device_.index(), bytes, *exchange);
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
  const DriverTable& driver_;
  Device device_;
  std::chrono::milliseconds exchange_deadline_;
  Site site_;
  std::optional<GpuExecutor> executor_;
  MpiReference mpi_reference_;
  std::unique_ptr<NcclComm> nccl_;
  std::optional<NcclReference> nccl_reference_;
};

}  // namespace

std::unique_ptr<Transport> MakeUnicastTransport(const RunConfig& config, const Ranks& ranks) {
  return std::make_unique<UnicastTransport>(config, ranks);
}

}  // namespace mailbench
