#include "harness/gpu/driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "harness/gpu/fake_driver.h"
#include "harness/gpu/fake_rank.h"

namespace mailbench {
namespace {

// Leaves the environment as it found it.
class Environment {
 public:
  explicit Environment(const std::map<std::string, const char*>& wanted) {
    for (const auto& [name, value] : wanted) {
      const char* const before = std::getenv(name.c_str());
      if (before != nullptr) before_[name] = before;
      unset_[name] = before == nullptr;
      if (value == nullptr) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), value, 1);
      }
    }
  }
  ~Environment() {
    for (const auto& [name, unset] : unset_) {
      if (unset) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), before_[name].c_str(), 1);
      }
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::map<std::string, std::string> before_;
  std::map<std::string, bool> unset_;
};

std::string ForbiddenWith(const char* ours, const char* nccl) {
  const Environment environment({{"MAILBENCH_MULTICAST", ours}, {"NCCL_NVLS_ENABLE", nccl}});
  return MulticastForbidden();
}

TEST(DriverTest, TheEnvironmentForbidsMulticast) {
  EXPECT_EQ(ForbiddenWith(nullptr, nullptr), "");
  EXPECT_EQ(ForbiddenWith("1", "1"), "");
  EXPECT_EQ(ForbiddenWith(nullptr, "2"), "");
  EXPECT_EQ(ForbiddenWith("0", nullptr), "MAILBENCH_MULTICAST=0 forbids it");
  EXPECT_EQ(ForbiddenWith("0", "1"), "MAILBENCH_MULTICAST=0 forbids it");
  EXPECT_EQ(ForbiddenWith("1", "0"), "NCCL_NVLS_ENABLE=0 forbids it");
  EXPECT_EQ(ForbiddenWith(nullptr, "00"), "NCCL_NVLS_ENABLE=00 forbids it");
  // Nobody who writes these wants multicast.
  for (const char* const value : {"", "off", "no", "00", "2", "false", "true", "01", " 1", "1 "}) {
    EXPECT_EQ(ForbiddenWith(value, nullptr),
              "MAILBENCH_MULTICAST=" + std::string(value) + " forbids it");
  }
  // Some of these are numbers to strtoll, and to NCCL: 1, 1, 1, 1, -1, 8 and 3.
  for (const char* const value : {"", "off", "no", "00", "false", "true", "0x0", "-0", "01", "0x1",
                                  "1,0", "1 0", "-1", "010", "3"}) {
    EXPECT_EQ(ForbiddenWith("1", value), "NCCL_NVLS_ENABLE=" + std::string(value) + " forbids it");
  }
  EXPECT_EQ(ForbiddenWith("0\n", nullptr), "MAILBENCH_MULTICAST=0\\n forbids it") << "one line";
}

TEST(DriverTest, ATableThatRefusesMulticastMakesNone) {
  FakeDriver& fake = FakeDriver::Get();
  fake.Reset();
  DriverTable table = fake.table();
  static int reached = 0;
  table.MulticastCreate = [](CUmemGenericAllocationHandle*, const CUmulticastObjectProp*) {
    ++reached;
    return CUDA_SUCCESS;
  };
  RefuseMulticast(table);
  CUmemGenericAllocationHandle object = 0;
  CUmulticastObjectProp what{};
  EXPECT_EQ(table.MulticastCreate(&object, &what), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(table.MulticastAddDevice(1, 0), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(table.MulticastBindMem(1, 0, 2, 0, 4096, 0), CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(reached, 0);
  EXPECT_EQ(table.MemCreate, fake.table().MemCreate);
}

// Of the three functions that make or join a multicast object, by the table of that environment.
std::vector<CUresult> MadeWith(const char* ours, const char* nccl) {
  const Environment environment({{"MAILBENCH_MULTICAST", ours}, {"NCCL_NVLS_ENABLE", nccl}});
  FakeDriver fake;
  const FakeDriverScope scope(fake);
  FakeRank calls;
  const DriverTable table = AsAllowed(FakeDriver::table());
  CUmulticastObjectProp what{};
  what.numDevices = 1;
  what.size = FakeRank::kBytes;
  what.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  CUmemGenericAllocationHandle object = 0;
  EXPECT_EQ(calls.CreateMemory(), CUDA_SUCCESS);
  std::vector<CUresult> results = {
      table.MulticastCreate(&object, &what), table.MulticastAddDevice(object, 0),
      table.MulticastBindMem(object, 0, calls.memory, 0, FakeRank::kBytes, 0)};
  EXPECT_EQ(table.MemRelease(calls.memory), CUDA_SUCCESS);
  EXPECT_TRUE(fake.misuse().empty());
  EXPECT_EQ(fake.calls().contains("cuMulticastCreate"), results[0] == CUDA_SUCCESS);
  return results;
}

TEST(DriverTest, ATableMakesMulticastObjectsOnlyWhereTheEnvironmentAllowsThem) {
  const std::vector<CUresult> made(3, CUDA_SUCCESS);
  const std::vector<CUresult> refused(3, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(MadeWith(nullptr, nullptr), made);
  EXPECT_EQ(MadeWith("1", nullptr), made);
  EXPECT_EQ(MadeWith(nullptr, "1"), made);
  EXPECT_EQ(MadeWith("1", "1"), made);
  EXPECT_EQ(MadeWith("0", nullptr), refused);
  EXPECT_EQ(MadeWith(nullptr, "0"), refused);
  EXPECT_EQ(MadeWith("0", "1"), refused);
  EXPECT_EQ(MadeWith("1", "0"), refused);
}

}  // namespace
}  // namespace mailbench
