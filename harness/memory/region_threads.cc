#include "harness/memory/region_threads.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "harness/memory/gpu_region.h"
#include "harness/memory/open_fds.h"
#include "harness/memory/private_directory.h"
#include "harness/watchdog/heartbeat.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLong{60'000};
constexpr std::chrono::microseconds kLook{50};
constexpr BindRetry kPatient{.pause = std::chrono::milliseconds(1), .limit = kLong};
constexpr std::int64_t kTimeoutNs = 50'000'000;

class Threads {
 public:
  explicit Threads(const RegionLife& life) : life_(life), meeting_(kRegionRanks) {
    for (FakeDriver& fake : fakes_) fake.options() = life_.options;
    if (life_.held_up) HeldUp().StallCall(life_.held_up->function, life_.held_up->number);
  }

  RegionEnd Run() {
    const std::ptrdiff_t before = OpenFds();
    std::thread watcher([this] { Watch(); });
    RunThreadRanks(kRegionRanks, meeting_, [this](ThreadRanks& ranks) {
      Live(ranks, end_.ranks[static_cast<std::size_t>(ranks.rank())]);
      ++ended_;
    });
    watcher.join();
    for (std::size_t rank = 0; rank < kRegionRanks; ++rank) {
      FakeDriver& fake = fakes_[rank];
      end_.ranks[rank].alive = fake.Alive();
      end_.ranks[rank].misuse = fake.misuse();
      end_.ranks[rank].calls = fake.calls();
    }
    for (FakeDriver& fake : fakes_) fake.Reset();
    end_.descriptors = OpenFds() - before;
    const std::filesystem::directory_iterator left(directory_.path());
    end_.files = std::distance(begin(left), end(left));
    return std::move(end_);
  }

 private:
  FakeDriver& HeldUp() { return fakes_[static_cast<std::size_t>(life_.held_up->rank)]; }

  void Live(ThreadRanks& ranks, RankEnd& end) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    fakes_[rank].UseDevice(ranks.rank());
    const FakeDriverScope driver(fakes_[rank]);
    FakeCalls calls;
    const FakeCallsScope functions(calls);
    Heartbeat heartbeat(&slots_[rank]);
    ranks.OnMeeting([&] { heartbeat.CountMeeting(); });
    ranks.AfterMeeting([&] { fakes_[rank].PublishMappings(); });
    RegionRank own{.rank = ranks.rank(),
                   .ranks = ranks,
                   .fake = fakes_[rank],
                   .calls = calls,
                   .complaints = end.complaints};
    if (life_.prepare) life_.prepare(own);
    try {
      heartbeat.Enter(Phase::kSetUp, 0);
      const std::unique_ptr<SymmetricRegion> region = Allocate(ranks);
      end.set_up_calls = fakes_[rank].calls();
      if (life_.use) life_.use(own, region->view());
      heartbeat.Enter(Phase::kTearDown, 0);
      Free(*region, end);
    } catch (const Error& error) {
      end.code = error.code();
      end.text = error.what();
    }
  }

  std::unique_ptr<SymmetricRegion> Allocate(const Ranks& ranks) {
    const DriverTable& driver = FakeCallsTable();
    FdExchangeHooks hooks;
    hooks.parent = directory_.path();
    const std::unique_ptr<HandleExchange> exchange =
        life_.type.fabric ? MakeFabricHandleExchange(driver, ranks)
                          : MakeFdHandleExchange(driver, ranks, kLong, hooks);
    return life_.type.multicast
               ? AllocateMulticast(driver, ranks, ranks.rank(), life_.bytes, *exchange, kPatient)
               : AllocateUnicast(driver, ranks, ranks.rank(), life_.bytes, *exchange);
  }

  static void Free(SymmetricRegion& region, RankEnd& end) {
    try {
      region.Free();
    } catch (const MachineError&) {
      end.kept = !region.view().peers.empty();
      region.Free();
      throw;
    }
  }

  void Watch() {
    bool holds = life_.held_up.has_value();
    while (ended_ < kRegionRanks) {
      // In this order: who is held up or has ended stays so, but who waits may go on.
      const bool held_up = holds && HeldUp().stalled();
      const std::size_t ended = ended_;
      const std::size_t waiting = meeting_.waiting();
      if (held_up && ended + waiting + 1 == kRegionRanks) {
        if (life_.given_up) GiveUp();
        HeldUp().EndWaits();
        holds = false;
      } else if (waiting > 0 && ended + waiting == kRegionRanks) {
        meeting_.GiveUp("the others have ended");
      }
      std::this_thread::sleep_for(kLook);
    }
  }

  // Nothing moves any more, so that the watchdog's clock can be put forward.
  void GiveUp() {
    for (const FakeDriver& fake : fakes_) {
      end_.misuse_until_then.insert(end_.misuse_until_then.end(), fake.misuse().begin(),
                                    fake.misuse().end());
    }
    std::vector<RankSnapshot> snapshots;
    for (int rank = 0; rank < kRegionRanks; ++rank) {
      snapshots.push_back({.rank = rank,
                           .pid = getpid(),
                           .alive = true,
                           .state = Read(slots_[static_cast<std::size_t>(rank)])});
    }
    const std::int64_t now = MonotonicNow();
    end_.diagnosis = Diagnose(snapshots, now + kLeastSetUpNs + 2 * kTimeoutNs, kTimeoutNs, now);
    meeting_.GiveUp(end_.diagnosis ? end_.diagnosis->text : "no diagnosis");
    while (ended_ + 1 < kRegionRanks) std::this_thread::sleep_for(kLook);
  }

  const RegionLife& life_;
  const PrivateDirectory directory_{"/tmp"};
  std::array<FakeDriver, kRegionRanks> fakes_;
  std::array<HeartbeatSlot, kRegionRanks> slots_{};
  ThreadMeeting meeting_;
  std::atomic<std::size_t> ended_ = 0;
  RegionEnd end_;
};

}  // namespace

std::string NameOf(const RegionType& type) {
  return std::string(type.multicast ? "Multicast" : "Unicast") +
         (type.fabric ? "Fabric" : "Descriptors");
}

void PrintTo(const RegionType& type, std::ostream* out) { *out << NameOf(type); }

void PrintTo(const RankEnd& end, std::ostream* out) {
  *out << "code " << static_cast<int>(end.code) << ", \"" << end.text << '"';
  if (end.kept) *out << ", kept";
  if (!end.alive.empty()) *out << ", alive: " << end.alive;
  for (const std::string& misuse : end.misuse) *out << ", misuse: " << misuse;
  for (const std::string& complaint : end.complaints) *out << ", complaint: " << complaint;
}

RegionEnd Live(const RegionLife& life) { return Threads(life).Run(); }

}  // namespace mailbench
