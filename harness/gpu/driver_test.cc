#include "harness/gpu/driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "harness/gpu/fake_driver.h"

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
  for (const char* const value : {"", "off", "no", "00", "2"}) {
    EXPECT_NE(ForbiddenWith(value, nullptr), "") << value;
  }
  for (const char* const value : {"", "off"}) EXPECT_NE(ForbiddenWith("1", value), "") << value;
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

}  // namespace
}  // namespace mailbench
