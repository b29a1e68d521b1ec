#include "harness/gpu/gpu_facts_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace mailbench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GpuFactsText, SaysAVersionOfCuda) {
  EXPECT_EQ(CudaVersionText(13000), "13.0");
  EXPECT_EQ(CudaVersionText(12090), "12.9");
}

TEST(GpuFactsText, CarriesEveryField) {
  GpuFacts facts;
  facts.name = "NVIDIA H200 with spaces";
  facts.uuid = "GPU-1";
  facts.pci_bus_id = "0000:65:00.0";
  facts.index = 3;
  facts.multiprocessors = 132;
  facts.compute_major = 9;
  facts.compute_minor = 5;
  facts.memory_bytes = 150'000'000'000;
  facts.l2_bytes = 60 << 20;
  facts.driver = "580.95.05";
  facts.cuda_driver = 13010;
  facts.cuda_runtime = 13000;
  facts.sm_clock_mhz = 1980;
  facts.memory_clock_max_mhz = 3201;
  facts.mps = true;
  facts.virtual_memory = true;
  facts.multicast = true;
  facts.place = {.state = 3,
                 .status = 999,
                 .cluster = "0123456789abcdef",
                 .clique = 4'000'000'000,
                 .health_mask = 0xfffffffe};
  const GpuFacts read = ReadGpuFacts(WriteGpuFacts(facts));
  EXPECT_EQ(read.name, facts.name);
  EXPECT_EQ(read.uuid, facts.uuid);
  EXPECT_EQ(read.pci_bus_id, facts.pci_bus_id);
  EXPECT_EQ(read.index, facts.index);
  EXPECT_EQ(read.multiprocessors, facts.multiprocessors);
  EXPECT_EQ(read.compute_major, facts.compute_major);
  EXPECT_EQ(read.compute_minor, facts.compute_minor);
  EXPECT_EQ(read.memory_bytes, facts.memory_bytes);
  EXPECT_EQ(read.l2_bytes, facts.l2_bytes);
  EXPECT_EQ(read.driver, facts.driver);
  EXPECT_EQ(read.cuda_driver, facts.cuda_driver);
  EXPECT_EQ(read.cuda_runtime, facts.cuda_runtime);
  EXPECT_EQ(read.sm_clock_mhz, facts.sm_clock_mhz);
  EXPECT_EQ(read.sm_clock_max_mhz, std::nullopt);
  EXPECT_EQ(read.memory_clock_mhz, std::nullopt);
  EXPECT_EQ(read.memory_clock_max_mhz, facts.memory_clock_max_mhz);
  EXPECT_FALSE(read.mig);
  EXPECT_TRUE(read.mps);
  EXPECT_TRUE(read.virtual_memory);
  EXPECT_FALSE(read.posix_fd);
  EXPECT_FALSE(read.fabric);
  EXPECT_TRUE(read.multicast);
  EXPECT_EQ(read.place.state, facts.place.state);
  EXPECT_EQ(read.place.status, facts.place.status);
  EXPECT_EQ(read.place.cluster, facts.place.cluster);
  EXPECT_EQ(read.place.clique, facts.place.clique);
  EXPECT_EQ(read.place.health_mask, facts.place.health_mask);
}

TEST(FabricStateText, SaysTheStatesOfNvmlAndThoseItDoesNotKnow) {
  EXPECT_EQ(FabricStateText(kFabricNotSupported), "not supported");
  EXPECT_EQ(FabricStateText(kFabricNotStarted), "not started");
  EXPECT_EQ(FabricStateText(kFabricInProgress), "in progress");
  EXPECT_EQ(FabricStateText(kFabricCompleted), "completed");
  EXPECT_EQ(FabricStateText(4), "state 4");
  EXPECT_EQ(FabricStateText(-1), "state -1");
}

TEST(FabricTroubles, NothingIsWrongWhereAllIsFalseOrNotSupported) {
  EXPECT_THAT(FabricTroubles(0), IsEmpty());
  EXPECT_THAT(FabricTroubles(0x1aa), IsEmpty());       // all false, configuration correct
  EXPECT_THAT(FabricTroubles(0x2), IsEmpty());         // NVML of CUDA 12.4: bandwidth only
  EXPECT_THAT(FabricTroubles(0xfffff000), IsEmpty());  // bits that CUDA 13.0 does not name
}

TEST(FabricTroubles, NamesEachThatIsTrue) {
  EXPECT_THAT(FabricTroubles(0x1a9), ElementsAre("degraded bandwidth"));
  EXPECT_THAT(FabricTroubles(0x1a6), ElementsAre("route recovery"));
  EXPECT_THAT(FabricTroubles(0x19a), ElementsAre("route unhealthy"));
  EXPECT_THAT(FabricTroubles(0x16a), ElementsAre("access timeout recovery"));
  EXPECT_THAT(FabricTroubles(0x155), ElementsAre("degraded bandwidth", "route recovery",
                                                 "route unhealthy", "access timeout recovery"));
}

TEST(FabricTroubles, NamesWhatIsWrongWithTheConfiguration) {
  const char* const wrong[] = {"system GUID",
                               "chassis serial number",
                               "no partition",
                               "insufficient NVLinks",
                               "incompatible GPU firmware",
                               "invalid location",
                               "value 8"};
  std::uint32_t value = 2;
  for (const char* name : wrong) {
    EXPECT_THAT(FabricTroubles(value << 8 | 0xaa),
                ElementsAre(std::string("incorrect configuration: ") + name));
    ++value;
  }
}

TEST(FabricTroubles, AValueThatNvmlDoesNotDefineIsNotHealthy) {
  EXPECT_THAT(FabricTroubles(0x1ba), ElementsAre("route unhealthy: value 3"));
  EXPECT_THAT(FabricTroubles(0xfaa), ElementsAre("incorrect configuration: value 15"));
}

TEST(HealthMaskText, IsHexadecimalOfFixedLength) {
  EXPECT_EQ(HealthMaskText(0), "0x00000000");
  EXPECT_EQ(HealthMaskText(0x1aa), "0x000001aa");
  EXPECT_EQ(HealthMaskText(0xfedcba98), "0xfedcba98");
}

}  // namespace
}  // namespace mailbench
