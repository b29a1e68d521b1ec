#include "harness/report/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <sstream>

#include "harness/report/environment_json.h"
#include "harness/report/report_test_data.h"

namespace mailbench {
namespace {

using ::testing::ElementsAre;

std::string Model(const std::string& cpuinfo) {
  std::istringstream stream(cpuinfo);
  return CpuModel(stream);
}

TEST(CpuModelTest, ReadsX86AndArm) {
  EXPECT_EQ(Model("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some CPU @ 2.00GHz\n\n"
                  "processor\t: 1\nmodel name\t: Other\n"),
            "Some CPU @ 2.00GHz");
  EXPECT_EQ(Model("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n"),
            "Arm implementer 0x41 part 0xd4f");
  EXPECT_EQ(Model(""), "unknown");
  EXPECT_EQ(Model(":\n: x\nmodel name\t:\n"), "unknown");
}

TEST(EnvironmentTest, ShowsNoSecrets) {
  for (const char* name :
       {"MAILBENCH_MULTICAST", "NCCL_NVLS_ENABLE", "CUDA_VISIBLE_DEVICES", "OMPI_MCA_btl",
        "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING",
        "CUDA_LAUNCH_BLOCKING"}) {
    EXPECT_TRUE(IsReportedVariable(name)) << name;
  }
  for (const char* name :
       {"PATH", "AWS_SECRET_ACCESS_KEY", "OMPI_MCA_orte_hnp_uri", "XNCCL_DEBUG",
        "CUDA_VISIBLE_DEVICES_X", "CUDA_MPS_PIPE_DIRECTORY", "SLURM_JOB_ID", ""}) {
    EXPECT_FALSE(IsReportedVariable(name)) << name;
  }
}

TEST(EnvironmentTest, GroupsTheRanksOfAGpu) {
  const auto gpu = [](const char* uuid, bool mps) {
    GpuFacts facts;
    facts.uuid = uuid;
    facts.mps = mps;
    return facts;
  };
  EXPECT_TRUE(GroupByGpu({}).empty());
  const std::vector<GpuRanks> gpus =
      GroupByGpu({gpu("b", true), gpu("a", true), gpu("b", true), gpu("a", false)});
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].gpu.uuid, "b");
  EXPECT_TRUE(gpus[0].gpu.mps);
  EXPECT_THAT(gpus[0].ranks, ElementsAre(0, 2));
  EXPECT_FALSE(gpus[1].gpu.mps);  // not all of its ranks
  EXPECT_THAT(gpus[1].ranks, ElementsAre(1, 3));
}

TEST(EnvironmentJsonTest, SaysWhereTheGpuIsInAnNvlinkFabricAndWhatIsNotHealthy) {
  Environment environment = test::SampleGpuFacts().environment;
  environment.gpus[0].place = {.state = kFabricCompleted,
                               .status = 999,
                               .cluster = "0123456789abcdef0123456789abcdef",
                               .clique = 4'000'000'000,
                               .health_mask = 0x599};
  environment.gpus[1].place = {};
  const Json gpus = EnvironmentJson(environment)["gpus"];
  EXPECT_EQ(gpus[0]["nvlink_fabric"], Json::parse(R"({
      "state": "completed", "status": 999, "cluster": "0123456789abcdef0123456789abcdef",
      "clique": 4000000000, "health_mask": "0x00000599",
      "not_healthy": ["degraded bandwidth", "route unhealthy",
                      "incorrect configuration: insufficient NVLinks"]})"));
  EXPECT_EQ(gpus[1]["nvlink_fabric"], nullptr);
}

TEST(EnvironmentJsonTest, AHealthyFabricHasAnEmptyList) {
  const Json gpu = EnvironmentJson(test::SampleGpuFacts().environment)["gpus"][0];
  EXPECT_EQ(gpu["nvlink_fabric"]["health_mask"], "0x000001aa");
  EXPECT_EQ(gpu["nvlink_fabric"]["not_healthy"], Json::array());
}

TEST(EnvironmentTest, GathersTheFactsOfThisHost) {
  setenv("MAILBENCH_SAMPLE", "a=b", 1);
  setenv("SAMPLE_TOKEN", "secret", 1);
  const Environment environment =
      GatherEnvironment({"b", "a", "b"}, "host", {{"unicast", "no GPU"}});
  ASSERT_EQ(environment.hosts.size(), 2U);
  EXPECT_EQ(environment.hosts[0].name, "b");
  EXPECT_THAT(environment.hosts[0].ranks, ElementsAre(0, 2));
  EXPECT_THAT(environment.hosts[1].ranks, ElementsAre(1));
  EXPECT_EQ(environment.ranks, 3);
  EXPECT_EQ(environment.transport, "host");
  EXPECT_GT(environment.cores, 0);
  EXPECT_FALSE(environment.cpu_model.empty());
  EXPECT_EQ(environment.kernel.rfind("Linux ", 0), 0U) << environment.kernel;
  EXPECT_NE(environment.mpi_library.find("MPI"), std::string::npos) << environment.mpi_library;
  EXPECT_EQ(environment.variables.at("MAILBENCH_SAMPLE"), "a=b");
  EXPECT_FALSE(environment.variables.contains("SAMPLE_TOKEN"));
}

}  // namespace
}  // namespace mailbench
