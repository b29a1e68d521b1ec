#include "harness/memory/host_transport.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "harness/error.h"
#include "harness/ranks/mpi_error.h"
#include "harness/ranks/ranks.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

class HostRegion : public SymmetricRegion {
 public:
  // `late_stores`: null without multicast.
  HostRegion(MPI_Win window, SymmetricView view, LateStores* late_stores)
      : window_(window), view_(std::move(view)), late_stores_(late_stores) {
    if (late_stores_ != nullptr) view_.multicast = MakeMulticast(view_);
  }
  ~HostRegion() override {
    if (window_ != MPI_WIN_NULL && std::uncaught_exceptions() == 0) {
      std::fprintf(stderr, "mailbench: rank %d leaves %zu bytes of shared memory to the system\n",
                   view_.rank, view_.bytes);
    }
  }

  const SymmetricView& view() const override { return view_; }
  // A multicast address of this host is no place in memory: each part has one of its own.
  SymmetricView Part(std::size_t offset, std::size_t bytes) const override {
    SymmetricView part = SymmetricRegion::Part(offset, bytes);
    if (late_stores_ != nullptr) part.multicast = MakeMulticast(part);
    return part;
  }
  void Free() override {
    const Step step("MPI_Win_free");
    if (late_stores_ != nullptr) late_stores_->LandAll();  // nothing lands where nothing is mapped
    if (window_ != MPI_WIN_NULL) MAILBENCH_MPI(MPI_Win_free(&window_));
    view_ = SymmetricView{};
  }

 private:
  MulticastPack* MakeMulticast(const SymmetricView& view) const {
    std::vector<Pack*> shares;
    for (std::byte* peer : view.peers) shares.push_back(reinterpret_cast<Pack*>(peer));
    multicasts_.push_back(std::make_unique<HostMulticast>(std::move(shares), *late_stores_));
    return multicasts_.back()->address();
  }

  MPI_Win window_;
  SymmetricView view_;
  LateStores* late_stores_;
  mutable std::vector<std::unique_ptr<HostMulticast>> multicasts_;  // of the views handed out
};

// Open MPI backs windows with files there, and a window that does not fit is a SIGBUS later.
std::string RoomFor(std::size_t bytes_total) {
  struct statvfs room {};
  if (statvfs("/dev/shm", &room) != 0) return "";
  const auto free_bytes = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
  if (bytes_total <= free_bytes) return "";
  return "the mailboxes of all ranks need " + std::to_string(bytes_total) +
         " bytes of shared memory, and /dev/shm has " + std::to_string(free_bytes) + " left";
}

}  // namespace

HostTransport::HostTransport(const Ranks& ranks) : ranks_(ranks), reference_(ranks) {
  if (!ranks.one_host()) {
    const auto other = std::find_if(ranks.hosts().begin(), ranks.hosts().end(),
                                    [&](const auto& host) { return host != ranks.hosts()[0]; });
    throw MachineError("it needs all ranks on one host: rank 0 is on " + ranks.hosts()[0] +
                       ", rank " + std::to_string(other - ranks.hosts().begin()) + " on " + *other);
  }
  site_.transport = "host";
  site_.ranks = ranks.size();
}

HostTransport::HostTransport(const Ranks& ranks, std::uint64_t seed) : HostTransport(ranks) {
  site_.transport = "host-multicast";
  site_.multicast = true;
  // One seed a rank.
  late_stores_.emplace(seed * static_cast<std::uint64_t>(ranks.size()) +
                       static_cast<std::uint64_t>(ranks.rank()));
  executor_.host_stream()->Delay(&*late_stores_);
}

std::unique_ptr<SymmetricRegion> HostTransport::Allocate(std::size_t bytes) {
  // A window's base is aligned for a double only: over-allocate and align.
  const std::size_t padded = bytes + kSymmetricAlignment;
  const auto ranks = static_cast<std::size_t>(ranks_.size());
  ranks_.Vote(ExitCode::kMachine, RoomFor(padded * ranks));

  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  std::string error;
  try {
    const Step step("MPI_Win_allocate_shared");
    MAILBENCH_MPI(MPI_Win_allocate_shared(static_cast<MPI_Aint>(padded), 1, MPI_INFO_NULL,
                                          ranks_.comm(), static_cast<void*>(&base), &window));
  } catch (const SystemError& failure) {
    error = std::to_string(padded) + " bytes of shared memory a rank: " + failure.what();
  }
  ranks_.Vote(ExitCode::kMachine, error);
  MAILBENCH_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));

  // Each rank aligns its own share; the others need the offset, since where a window is mapped
  // differs from process to process.
  const auto misalignment = reinterpret_cast<std::uintptr_t>(base) % kSymmetricAlignment;
  const std::size_t offset = misalignment == 0 ? 0 : kSymmetricAlignment - misalignment;
  std::vector<std::uint64_t> offsets(ranks);
  const std::uint64_t own_offset = offset;
  MAILBENCH_MPI(
      MPI_Allgather(&own_offset, 1, MPI_UINT64_T, offsets.data(), 1, MPI_UINT64_T, ranks_.comm()));

  SymmetricView view;
  view.bytes = bytes;
  view.rank = ranks_.rank();
  for (int peer = 0; peer < ranks_.size(); ++peer) {
    MPI_Aint size = 0;
    int unit = 0;
    void* peer_base = nullptr;
    MAILBENCH_MPI(MPI_Win_shared_query(window, peer, &size, &unit, static_cast<void*>(&peer_base)));
    view.peers.push_back(static_cast<std::byte*>(peer_base) +
                         offsets[static_cast<std::size_t>(peer)]);
  }
  std::memset(view.local(), 0, bytes);
  ranks_.Barrier();
  return std::make_unique<HostRegion>(window, std::move(view),
                                      late_stores_ ? &*late_stores_ : nullptr);
}

}  // namespace mailbench
