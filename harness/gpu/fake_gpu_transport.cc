#include "harness/gpu/fake_gpu_transport.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/fake_driver.h"
#include "harness/gpu/gpu_facts.h"
#include "harness/gpu/gpu_transport.h"
#include "harness/gpu/refusals.h"
#include "harness/launch/host_executor.h"
#include "harness/memory/gpu_region.h"
#include "harness/memory/handle_exchange.h"
#include "harness/ranks/ranks.h"
#include "kernels/machine/host/late_stores.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kExchangeDeadline{60'000};

std::vector<GpuFacts> Facts(int ranks, const FakeGpus& gpus) {
  std::vector<GpuFacts> facts(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    GpuFacts& gpu = facts[static_cast<std::size_t>(rank)];
    gpu.name = "fake GPU";
    gpu.uuid = "GPU-" + std::to_string(rank);
    gpu.multicast = true;
    gpu.place.state = 3;  // completed
    gpu.place.cluster = std::string(32, 'c');
    gpu.place.clique = rank == gpus.elsewhere ? 2 : 1;
  }
  return facts;
}

// A region whose multicast addresses are those of the host machine: what they stand for is the
// memory that the driver's object reaches.
class FakeGpuRegion : public SymmetricRegion {
 public:
  FakeGpuRegion(std::unique_ptr<SymmetricRegion> region, LateStores& late_stores)
      : region_(std::move(region)), late_stores_(late_stores) {
    view_ = Part(0, region_->view().bytes);
  }

  const SymmetricView& view() const override { return view_; }

  SymmetricView Part(std::size_t offset, std::size_t bytes) const override {
    SymmetricView part = region_->Part(offset, bytes);
    if (part.multicast == nullptr) return part;
    std::vector<Pack*> copies;
    for (std::byte* copy : FakeDriver::Get().MulticastCopies(part.multicast, bytes)) {
      copies.push_back(reinterpret_cast<Pack*>(copy));
    }
    multicasts_.push_back(std::make_unique<HostMulticast>(std::move(copies), late_stores_));
    part.multicast = multicasts_.back()->address();
    return part;
  }

  void Free() override {
    late_stores_.LandAll();  // nothing lands where nothing is mapped
    view_ = SymmetricView{};
    region_->Free();
  }

 private:
  std::unique_ptr<SymmetricRegion> region_;
  LateStores& late_stores_;
  SymmetricView view_;
  mutable std::vector<std::unique_ptr<HostMulticast>> multicasts_;  // of the views handed out
};

class FakeGpuTransport : public Transport {
 public:
  FakeGpuTransport(std::string_view name, const RunConfig& config, const Ranks& ranks,
                   const FakeGpus& gpus)
      : ranks_(ranks),
        device_(ranks.rank() % FakeDriver::kDevices),
        facts_(Facts(ranks.size(), gpus)),
        exchange_(MakeHandleExchange(FakeDriver::table(), ranks, kExchangeDeadline)),
        late_stores_(config.seed * static_cast<std::uint64_t>(ranks.size()) +
                     static_cast<std::uint64_t>(ranks.rank())),
        reference_(ranks) {
    FakeDriver::Get().UseDevice(device_);
    site_.transport = name;
    site_.ranks = ranks.size();
    site_.multicast = name == "multicast";
    executor_.host_stream()->Delay(&late_stores_);
    const GpuMemory memory = site_.multicast ? GpuMemory::kMulticast : GpuMemory::kUnicast;
    RequireAllowed(ranks, memory);
    RequireReach(ranks, memory, facts_);
  }

  std::string_view name() const override { return site_.transport; }
  const Site& site() const override { return site_; }
  Executor& executor() override { return executor_; }
  Reference& reference() override { return reference_; }

  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override {
    const DriverTable& driver = FakeDriver::table();
    auto region = site_.multicast ? AllocateMulticast(driver, ranks_, device_, bytes, *exchange_)
                                  : AllocateUnicast(driver, ranks_, device_, bytes, *exchange_);
    // Any rank may store to any share from here on, as on a GPU.
    FakeDriver::Get().PublishMappings();
    return std::make_unique<FakeGpuRegion>(std::move(region), late_stores_);
  }

 private:
  const Ranks& ranks_;
  const int device_;  // not 0 on every rank, so that a mix-up shows
  const std::vector<GpuFacts> facts_;
  const std::unique_ptr<HandleExchange> exchange_;
  LateStores late_stores_;
  Site site_;
  HostExecutor executor_;
  MpiReference reference_;
};

}  // namespace

std::unique_ptr<Transport> MakeFakeGpuTransport(std::string_view name, const RunConfig& config,
                                                const Ranks& ranks, const FakeGpus& gpus) {
  if (name != "unicast" && name != "multicast") throw MachineError("not a transport of fake GPUs");
  return std::make_unique<FakeGpuTransport>(name, config, ranks, gpus);
}

}  // namespace mailbench
