// Under mpirun: multicast objects of the fake driver between processes.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "harness/gpu/fake_rank.h"
#include "harness/memory/fd_exchange.h"
#include "harness/memory/open_fds.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

constexpr std::chrono::milliseconds kLong{120'000};

FakeDriver& fake = FakeDriver::Get();

bool First() { return TestRanks().rank() == 0; }

// Rank 0's object for all, by FABRIC handle.
void ShareByFabric(FakeRank& calls) {
  CUmemFabricHandle shared{};
  if (First()) {
    ASSERT_EQ(calls.ExportObject(&shared), CUDA_SUCCESS);
  }
  const std::string bytes(reinterpret_cast<const char*>(&shared), sizeof shared);
  const std::string first = TestRanks().Gather(bytes).front();
  std::memcpy(&shared, first.data(), sizeof shared);
  if (!First()) {
    ASSERT_EQ(calls.ImportObject(&shared), CUDA_SUCCESS);
  }
}

// The same by descriptor.
void ShareByDescriptor(FakeRank& calls) {
  int exported = First() ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (First()) {
    ASSERT_EQ(calls.driver.MemExportToShareableHandle(&exported, calls.object, calls.type, 0),
              CUDA_SUCCESS);
  }
  const FileDescriptor own(exported);
  const std::vector<FileDescriptor> fds = ExchangeFds(TestRanks(), own.get(), kLong);
  if (!First()) {
    void* const in = reinterpret_cast<void*>(static_cast<std::uintptr_t>(fds[0].get()));
    ASSERT_EQ(calls.driver.MemImportFromShareableHandle(&calls.object, in, calls.type),
              CUDA_SUCCESS);
  }
}

constexpr CUdeviceptr kPack = 16;  // bytes of a store

std::uint32_t WordAt(CUdeviceptr address) {
  return *reinterpret_cast<volatile std::uint32_t*>(address);
}

void StoreAndRead(const FakeRank& calls) {
  const auto rank = static_cast<std::uint32_t>(TestRanks().rank());
  for (std::uint32_t call = 0; call < 100; ++call) {
    const std::uint32_t words[4] = {call, rank, call + rank, ~call};
    EXPECT_TRUE(fake.MulticastStore(reinterpret_cast<void*>(calls.multicast + kPack * rank), words,
                                    sizeof words));
    TestRanks().Barrier();
    for (std::uint32_t from = 0; from < static_cast<std::uint32_t>(TestRanks().size()); ++from) {
      ASSERT_EQ(WordAt(calls.own + kPack * from), call);
      ASSERT_EQ(WordAt(calls.own + kPack * from + 8), call + from);
    }
    TestRanks().Barrier();
  }
}

void ExpectDelivers(CUmemAllocationHandleType type) {
  fake.Reset();
  const std::ptrdiff_t fds = OpenFds();
  FakeRank calls;
  calls.type = type;
  ASSERT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
  ASSERT_EQ(calls.MapMemory(), CUDA_SUCCESS);
  if (First()) {
    ASSERT_EQ(calls.CreateObject(static_cast<unsigned>(TestRanks().size())), CUDA_SUCCESS);
  }
  type == CU_MEM_HANDLE_TYPE_FABRIC ? ShareByFabric(calls) : ShareByDescriptor(calls);
  ASSERT_EQ(calls.AddDevice(), CUDA_SUCCESS);
  // No vote: binding waits for the others.
  ASSERT_EQ(calls.Bind(), CUDA_SUCCESS);
  ASSERT_EQ(calls.MapObject(), CUDA_SUCCESS);
  ASSERT_EQ(calls.Access(calls.multicast), CUDA_SUCCESS);
  TestRanks().Barrier();
  StoreAndRead(calls);
  EXPECT_EQ(calls.FreeObject(), CUDA_SUCCESS);
  TestRanks().Barrier();
  EXPECT_EQ(calls.FreeMemory(), CUDA_SUCCESS);
  EXPECT_EQ(fake.Alive(), "");
  EXPECT_EQ(OpenFds(), fds);
  EXPECT_TRUE(fake.misuse().empty()) << fake.misuse().front();
  TestRanks().Barrier();
}

TEST(FakeMulticastRanks, AStoreReachesTheMemoryOfAllProcesses) {
  ExpectDelivers(CU_MEM_HANDLE_TYPE_FABRIC);
  ExpectDelivers(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

TEST(FakeMulticastRanks, AnImportThatIsLateWaitsForEver) {
  if (TestRanks().size() == 1) GTEST_SKIP() << "for several ranks";
  fake.Reset();
  fake.options().patience = std::chrono::milliseconds(50);
  FakeRank calls;
  CUmemFabricHandle shared{};
  if (First()) {
    ASSERT_EQ(calls.CreateObject(static_cast<unsigned>(TestRanks().size())), CUDA_SUCCESS);
    ASSERT_EQ(calls.ExportObject(&shared), CUDA_SUCCESS);
    ASSERT_EQ(calls.driver.MemRelease(calls.object), CUDA_SUCCESS);
  }
  const std::string bytes(reinterpret_cast<const char*>(&shared), sizeof shared);
  const std::string first = TestRanks().Gather(bytes).front();
  if (!First()) {
    std::memcpy(&shared, first.data(), sizeof shared);
    ASSERT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
    ASSERT_EQ(calls.ImportObject(&shared), CUDA_SUCCESS);
    ASSERT_EQ(calls.AddDevice(), CUDA_SUCCESS);
    EXPECT_EQ(calls.Bind(), CUDA_ERROR_TIMEOUT);
    ASSERT_EQ(fake.misuse().size(), 1u);
    EXPECT_EQ(fake.misuse().front(), "bind: waits for devices that are never added, 1 of " +
                                         std::to_string(TestRanks().size()));
  }
  TestRanks().Barrier();
  fake.Reset();
}

}  // namespace
}  // namespace mailbench
