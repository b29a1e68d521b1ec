#include "harness/memory/handle_exchange.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "harness/file_descriptor.h"
#include "harness/ranks/vote_on.h"

namespace mailbench {
namespace {

class FdHandleExchange : public HandleExchange {
 public:
  FdHandleExchange(const DriverTable& driver, const Ranks& ranks,
                   std::chrono::milliseconds deadline, FdExchangeHooks hooks)
      : driver_(driver), ranks_(ranks), deadline_(deadline), hooks_(std::move(hooks)) {}

  CUmemAllocationHandleType type() const override {
    return CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  }

  std::vector<PhysicalMemory> ShareAll(CUmemGenericAllocationHandle own) override {
    FileDescriptor own_fd;
    VoteOn(ranks_, ExitCode::kMachine, [&] { own_fd = ExportFd(driver_, own); });
    const std::vector<FileDescriptor> fds = ExchangeFds(ranks_, own_fd.get(), deadline_, hooks_);
    std::vector<PhysicalMemory> objects(fds.size());
    VoteOn(ranks_, ExitCode::kMachine, [&] {
      for (std::size_t peer = 0; peer < fds.size(); ++peer) {
        if (fds[peer].valid()) objects[peer] = ImportFd(driver_, fds[peer]);
      }
    });
    return objects;
  }

  PhysicalMemory ShareOfRankZero(CUmemGenericAllocationHandle own) override {
    FileDescriptor own_fd;
    VoteOn(ranks_, ExitCode::kMachine, [&] {
      if (ranks_.rank() == 0) own_fd = ExportFd(driver_, own);
    });
    const FileDescriptor fd = BroadcastFd(ranks_, own_fd.get(), deadline_, hooks_);
    PhysicalMemory object;
    VoteOn(ranks_, ExitCode::kMachine, [&] {
      if (fd.valid()) object = ImportFd(driver_, fd);
    });
    return object;
  }

 private:
  const DriverTable& driver_;
  const Ranks& ranks_;
  const std::chrono::milliseconds deadline_;
  const FdExchangeHooks hooks_;
};

class FabricHandleExchange : public HandleExchange {
 public:
  FabricHandleExchange(const DriverTable& driver, const Ranks& ranks)
      : driver_(driver), ranks_(ranks) {}

  CUmemAllocationHandleType type() const override { return CU_MEM_HANDLE_TYPE_FABRIC; }

  std::vector<PhysicalMemory> ShareAll(CUmemGenericAllocationHandle own) override {
    CUmemFabricHandle handle{};
    VoteOn(ranks_, ExitCode::kMachine, [&] { handle = ExportFabric(driver_, own); });
    const std::vector<CUmemFabricHandle> handles = Gather(handle);
    std::vector<PhysicalMemory> objects(handles.size());
    VoteOn(ranks_, ExitCode::kMachine, [&] {
      for (std::size_t peer = 0; peer < handles.size(); ++peer) {
        if (static_cast<int>(peer) != ranks_.rank()) {
          objects[peer] = ImportFabric(driver_, handles[peer]);
        }
      }
    });
    return objects;
  }

  PhysicalMemory ShareOfRankZero(CUmemGenericAllocationHandle own) override {
    CUmemFabricHandle handle{};
    VoteOn(ranks_, ExitCode::kMachine, [&] {
      if (ranks_.rank() == 0) handle = ExportFabric(driver_, own);
    });
    handle = Gather(handle).front();
    PhysicalMemory object;
    VoteOn(ranks_, ExitCode::kMachine, [&] {
      if (ranks_.rank() != 0) object = ImportFabric(driver_, handle);
    });
    return object;
  }

 private:
  using Words = std::array<std::uint32_t, sizeof(CUmemFabricHandle) / sizeof(std::uint32_t)>;

  // Collective: by rank.
  std::vector<CUmemFabricHandle> Gather(const CUmemFabricHandle& own) const {
    Words words{};
    std::memcpy(words.data(), own.data, sizeof words);
    std::vector<std::uint32_t> all(words.size() * static_cast<std::size_t>(ranks_.size()));
    ranks_.GatherWords(words, all);
    std::vector<CUmemFabricHandle> handles(static_cast<std::size_t>(ranks_.size()));
    std::memcpy(handles.data(), all.data(), sizeof words * handles.size());
    return handles;
  }

  const DriverTable& driver_;
  const Ranks& ranks_;
};

}  // namespace

std::unique_ptr<HandleExchange> MakeFdHandleExchange(const DriverTable& driver, const Ranks& ranks,
                                                     std::chrono::milliseconds deadline,
                                                     const FdExchangeHooks& hooks) {
  return std::make_unique<FdHandleExchange>(driver, ranks, deadline, hooks);
}

std::unique_ptr<HandleExchange> MakeFabricHandleExchange(const DriverTable& driver,
                                                         const Ranks& ranks) {
  return std::make_unique<FabricHandleExchange>(driver, ranks);
}

std::unique_ptr<HandleExchange> MakeHandleExchange(const DriverTable& driver, const Ranks& ranks,
                                                   std::chrono::milliseconds deadline) {
  if (ranks.one_host()) return MakeFdHandleExchange(driver, ranks, deadline);
  return MakeFabricHandleExchange(driver, ranks);
}

}  // namespace mailbench
