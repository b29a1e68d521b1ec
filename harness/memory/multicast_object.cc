#include "harness/memory/multicast_object.h"

#include <chrono>
#include <string>
#include <thread>

#include "harness/gpu/cuda_error.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

using Clock = std::chrono::steady_clock;

CUmulticastObjectProp Describe(int devices, std::size_t bytes, CUmemAllocationHandleType type) {
  CUmulticastObjectProp what{};
  what.numDevices = static_cast<unsigned>(devices);
  what.size = bytes;
  what.handleTypes = type;
  return what;
}

// Runs what takes a slot of the switches, and says what it means when there is none.
template <typename Call>
void TakeSlot(Call&& call) {
  try {
    call();
  } catch (const DriverError& error) {
    if (error.result() != CUDA_ERROR_OUT_OF_MEMORY) throw;
    throw SystemError(std::string(error.what()) +
                      ": the multicast slots of the NVSwitches are used up, not memory; other "
                      "processes of this NVLink domain hold them");
  }
}

// The steps of binding one's own memory on every rank, again and again while the system is not
// ready on any of them.
class BindSteps {
 public:
  BindSteps(const DriverTable& driver, const Ranks& ranks, const BindRetry& retry)
      : driver_(driver), ranks_(ranks), retry_(retry) {}

  Binding Run(const BoundMemory& what, CUmemGenericAllocationHandle memory) {
    const Clock::time_point start = Clock::now();
    while (true) {
      std::string not_ready;
      VoteOn(ranks_, ExitCode::kMachine, [&] { not_ready = Try(what, memory); });
      const bool late = Clock::now() - start + retry_.pause > retry_.limit;
      if (ranks_.Max(not_ready.empty() ? 0 : 1) == 0) return std::move(binding_);
      if (ranks_.Max(late ? 1 : 0) > 0) ranks_.Vote(ExitCode::kMachine, not_ready);
      std::this_thread::sleep_for(retry_.pause);
    }
  }

 private:
  // "" once bound; the refusal of a system that is not ready.
  std::string Try(const BoundMemory& what, CUmemGenericAllocationHandle memory) {
    if (bound_) return "";
    try {
      TakeSlot([&] {
        MAILBENCH_DRIVER(driver_, MulticastBindMem, what.object, 0, memory, 0, what.bytes, 0);
      });
    } catch (const DriverError& error) {
      if (error.result() != CUDA_ERROR_SYSTEM_NOT_READY) throw;
      return error.what();
    }
    binding_ = {driver_, what};
    bound_ = true;
    return "";
  }

  const DriverTable& driver_;
  const Ranks& ranks_;
  const BindRetry retry_;
  Binding binding_;
  bool bound_ = false;
};

}  // namespace

void UnbindMemory(const DriverTable& driver, const BoundMemory& bound) {
  MAILBENCH_DRIVER(driver, MulticastUnbind, bound.object, bound.device, 0, bound.bytes);
}

std::size_t MulticastGranularity(const DriverTable& driver, int devices, std::size_t bytes,
                                 CUmemAllocationHandleType type) {
  const CUmulticastObjectProp what = Describe(devices, bytes, type);
  std::size_t granularity = 0;
  MAILBENCH_DRIVER(driver, MulticastGetGranularity, &granularity, &what,
                   CU_MULTICAST_GRANULARITY_MINIMUM);
  return granularity;
}

MulticastObject::MulticastObject(const DriverTable& driver, const Ranks& ranks, int device,
                                 const PeerShares& shares, std::size_t granularity,
                                 HandleExchange& exchange, const BindRetry& retry) {
  const auto step = [&](auto&& call) { VoteOn(ranks, ExitCode::kMachine, call); };
  // Rank 0 holds the object from here on until Release, as do the others once they have imported
  // it: when nobody held it, an import would make a new object, that no bind gets through to.
  step([&] {
    if (ranks.rank() != 0) return;
    const CUmulticastObjectProp what = Describe(ranks.size(), shares.bytes, exchange.type());
    CUmemGenericAllocationHandle handle = 0;
    TakeSlot([&] { MAILBENCH_DRIVER(driver, MulticastCreate, &handle, &what); });
    object_ = {driver, handle};
  });
  PhysicalMemory imported = exchange.ShareOfRankZero(object_.object());
  if (ranks.rank() != 0) object_ = std::move(imported);

  CUdevice own_device = 0;
  step([&] {
    MAILBENCH_DRIVER(driver, DeviceGet, &own_device, device);
    MAILBENCH_DRIVER(driver, MulticastAddDevice, object_.object(), own_device);
  });
  // Binding and mapping wait until every device has been added, hence the vote before.
  const PhysicalMemory& own = shares.by_rank[static_cast<std::size_t>(ranks.rank())].memory();
  binding_ = BindSteps(driver, ranks, retry)
                 .Run({.object = object_.object(), .device = own_device, .bytes = shares.bytes},
                      own.object());

  step([&] { range_ = ReserveAddresses(driver, shares.bytes, granularity); });
  step([&] { mapping_ = MapMemory(driver, range_, object_); });
  step([&] { AllowAccess(driver, range_, device); });
}

void MulticastObject::Release() {
  Attempts all;
  all.Try([&] { mapping_.Release(); });
  all.Try([&] { range_.Release(); });
  all.Try([&] { binding_.Release(); });
  all.Try([&] { object_.Release(); });
  all.RethrowFirst();
}

}  // namespace mailbench
