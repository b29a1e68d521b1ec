// The fake holds callers to the contract: a test against it would otherwise prove nothing.
#include "harness/gpu/fake_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kBytes = 2 * FakeDriver::kGranularity;

class FakeDriverTest : public testing::Test {
 protected:
  FakeDriverTest() {
    fake_.Reset();
    what_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    access_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access_.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  ~FakeDriverTest() override { fake_.Reset(); }

  CUmemGenericAllocationHandle Create() {
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(driver_.MemCreate(&handle, kBytes, &what_, 0), CUDA_SUCCESS);
    return handle;
  }
  CUdeviceptr Reserve() {
    CUdeviceptr start = 0;
    EXPECT_EQ(driver_.MemAddressReserve(&start, kBytes, 0, 0, 0), CUDA_SUCCESS);
    return start;
  }

  FakeDriver& fake_ = FakeDriver::Get();
  const DriverTable& driver_ = fake_.table();
  CUmemAllocationProp what_{};
  CUmemAccessDesc access_{};
};

TEST_F(FakeDriverTest, OneMemoryAtTwoAddressesIsTheSame) {
  const auto handle = Create();
  int fd = -1;
  ASSERT_EQ(
      driver_.MemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
      CUDA_SUCCESS);
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_EQ(driver_.MemImportFromShareableHandle(
                &imported, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  close(fd);
  const CUdeviceptr one = Reserve();
  const CUdeviceptr other = Reserve();
  ASSERT_EQ(driver_.MemMap(one, kBytes, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(driver_.MemMap(other, kBytes, 0, imported, 0), CUDA_SUCCESS);
  for (const CUdeviceptr start : {one, other}) {
    ASSERT_EQ(driver_.MemSetAccess(start, kBytes, &access_, 1), CUDA_SUCCESS);
  }
  ASSERT_EQ(driver_.MemsetD32(one, 7, kBytes / 4), CUDA_SUCCESS);
  EXPECT_EQ(reinterpret_cast<unsigned*>(other)[kBytes / 4 - 1], 7u);
  EXPECT_EQ(fake_.Alive(), "2 handles, 2 ranges, 2 mappings");
  EXPECT_THAT(fake_.misuse(), IsEmpty());
}

TEST_F(FakeDriverTest, MemoryIsNotReachableBeforeAccessIsSet) {
  const auto handle = Create();
  const CUdeviceptr start = Reserve();
  ASSERT_EQ(driver_.MemMap(start, kBytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver_.MemsetD32(start, 0, kBytes / 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(fake_.misuse(), ElementsAre("memset: no access"));
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(start) = 1, "");
}

TEST_F(FakeDriverTest, RecordsWrongOrder) {
  const auto handle = Create();
  EXPECT_EQ(driver_.MemMap(kBytes, kBytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  const CUdeviceptr start = Reserve();
  EXPECT_EQ(driver_.MemSetAccess(start, kBytes, &access_, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver_.MemUnmap(start, kBytes), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(driver_.MemMap(start, kBytes, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver_.MemMap(start, kBytes, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver_.MemAddressFree(start, kBytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(
      fake_.misuse(),
      ElementsAre("map: the range is not reserved", "set access: not mapped", "unmap: not mapped",
                  "map: the range is mapped already", "free: the range is still mapped"));
}

TEST_F(FakeDriverTest, RecordsWhatIsGivenBackTwice) {
  const auto handle = Create();
  const CUdeviceptr start = Reserve();
  ASSERT_EQ(driver_.MemMap(start, kBytes, 0, handle, 0), CUDA_SUCCESS);
  for (const CUresult expected : {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE}) {
    EXPECT_EQ(driver_.MemUnmap(start, kBytes), expected);
    EXPECT_EQ(driver_.MemRelease(handle), expected);
  }
  for (const CUresult expected : {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE}) {
    EXPECT_EQ(driver_.MemAddressFree(start, kBytes), expected);
  }
  EXPECT_THAT(fake_.misuse(),
              ElementsAre("unmap: not mapped", "release: no such handle", "free: no such range"));
  EXPECT_EQ(fake_.Alive(), "");
}

TEST_F(FakeDriverTest, RecordsWrongSizes) {
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(driver_.MemCreate(&handle, 100, &what_, 0), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr start = 0;
  EXPECT_EQ(driver_.MemAddressReserve(&start, 100, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(driver_.MemAddressReserve(&start, 2 * kBytes, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver_.MemMap(start, 2 * kBytes, 0, Create(), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver_.MemAddressFree(start, kBytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(fake_.misuse(), ElementsAre("create: size not granular", "reserve: size not granular",
                                          "map: not all of the memory", "free: no such range"));
}

TEST_F(FakeDriverTest, FailsTheCallThatWasAskedFor) {
  CUdeviceptr start = Reserve();
  fake_.FailCall("cuMemAddressReserve", 1, CUDA_ERROR_OUT_OF_MEMORY);
  Create();
  Reserve();
  EXPECT_EQ(driver_.MemAddressReserve(&start, kBytes, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  Reserve();
  EXPECT_EQ(fake_.calls().at("cuMemAddressReserve"), 4);
  EXPECT_THAT(fake_.misuse(), IsEmpty());
}

}  // namespace
}  // namespace mailbench
