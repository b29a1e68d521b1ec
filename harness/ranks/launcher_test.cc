#include "harness/ranks/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace mailbench {
namespace {

LauncherFacts ReadWith(const std::map<std::string, std::string>& environment) {
  for (const char* name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
        "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_PROCID", "SLURM_NTASKS",
        "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS"}) {
    unsetenv(name);
  }
  for (const auto& [name, value] : environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  return ReadLauncherEnvironment();
}

testing::AssertionResult Is(const LauncherFacts& facts, bool launched, int rank, int size) {
  if (facts.launched == launched && facts.rank == rank && facts.size == size) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << "launched " << facts.launched << " rank " << facts.rank << " size " << facts.size;
}

TEST(LauncherTest, AloneWithoutALauncher) { EXPECT_TRUE(Is(ReadWith({}), false, 0, 1)); }

TEST(LauncherTest, ReadsOpenMpi) {
  EXPECT_TRUE(
      Is(ReadWith({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), true, 3, 4));
  EXPECT_TRUE(
      Is(ReadWith({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}), true, 0, 1));
}

TEST(LauncherTest, ReadsPmi) {
  EXPECT_TRUE(Is(ReadWith({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), true, 1, 2));
}

TEST(LauncherTest, ReadsMvapich) {
  EXPECT_TRUE(
      Is(ReadWith({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}}), true, 1, 2));
}

TEST(LauncherTest, PmixGivesARankAndSlurmTheSize) {
  EXPECT_TRUE(Is(ReadWith({{"PMIX_RANK", "5"}}), true, 5, 1));
  EXPECT_TRUE(Is(ReadWith({{"PMIX_RANK", "5"},
                           {"SLURM_PROCID", "5"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_NTASKS", "8"}}),
                 true, 5, 8));
}

TEST(LauncherTest, SlurmCountsOnlyInAStep) {
  EXPECT_TRUE(Is(ReadWith({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), false, 0, 1));
  EXPECT_TRUE(Is(ReadWith({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_ID", "0"}}),
                 true, 2, 8));
  // The step may be smaller than the job.
  EXPECT_TRUE(Is(ReadWith({{"SLURM_PROCID", "0"},
                           {"SLURM_NTASKS", "8"},
                           {"SLURM_STEP_ID", "1"},
                           {"SLURM_STEP_NUM_TASKS", "1"}}),
                 true, 0, 1));
}

TEST(LauncherTest, MpirunInsideASlurmStepIsTheLauncher) {
  EXPECT_TRUE(Is(ReadWith({{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"SLURM_PROCID", "0"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_NTASKS", "1"}}),
                 true, 1, 4));
}

// A step of one task, in which another launcher starts ranks.
TEST(LauncherTest, PmixInsideASmallerSlurmStepIsTheLauncher) {
  EXPECT_TRUE(Is(ReadWith({{"PMIX_RANK", "5"},
                           {"SLURM_PROCID", "0"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_NTASKS", "1"}}),
                 true, 5, 1));
}

// MPI sees one process: each environment, and what is said about it.
TEST(LauncherTest, OneProcessOfSeveralIsNotAlone) {
  const struct {
    std::map<std::string, std::string> environment;
    std::string told;
    std::string count;
  } kCases[] = {
      {{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
       "OMPI_COMM_WORLD_RANK=0 and OMPI_COMM_WORLD_SIZE=4",
       "4 processes"},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, "PMI_RANK=1 and PMI_SIZE=2", "2 processes"},
      {{{"MV2_COMM_WORLD_RANK", "0"}, {"MV2_COMM_WORLD_SIZE", "2"}},
       "MV2_COMM_WORLD_RANK=0 and MV2_COMM_WORLD_SIZE=2",
       "2 processes"},
      {{{"PMIX_RANK", "1"}}, "PMIX_RANK=1", "several processes"},
      {{{"PMIX_RANK", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_ID", "3"}, {"SLURM_NTASKS", "8"}},
       "PMIX_RANK=0 and SLURM_NTASKS=8",
       "8 processes"},
      {{{"SLURM_PROCID", "0"},
        {"SLURM_STEP_ID", "3"},
        {"SLURM_NTASKS", "8"},
        {"SLURM_STEP_NUM_TASKS", "3"}},
       "SLURM_PROCID=0 and SLURM_STEP_NUM_TASKS=3",
       "3 processes"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(WhyNotAlone(ReadWith(c.environment)),
                testing::AllOf(testing::StartsWith(c.told + ": a launcher started " + c.count),
                               testing::HasSubstr("MPI sees one"),
                               testing::HasSubstr("another MPI library"),
                               testing::HasSubstr("--mpi=pmix")));
  }
}

TEST(LauncherTest, OneProcessMayBeAlone) {
  EXPECT_EQ(WhyNotAlone(ReadWith({})), "");
  EXPECT_EQ(WhyNotAlone(ReadWith({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}})), "");
  // A launcher that gives no size; one rank is all that it is known to have started.
  EXPECT_EQ(WhyNotAlone(ReadWith({{"PMIX_RANK", "0"}})), "");
  // A batch script.
  EXPECT_EQ(WhyNotAlone(ReadWith({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}})), "");
}

TEST(LauncherTest, PassesOverWhatIsNoRankOfASize) {
  for (const char* rank : {"", "x", "-1", "1x", " 1", "2", "99999999999"}) {
    EXPECT_TRUE(
        Is(ReadWith({{"OMPI_COMM_WORLD_RANK", rank}, {"OMPI_COMM_WORLD_SIZE", "2"}}), false, 0, 1))
        << "rank '" << rank << "'";
  }
  EXPECT_TRUE(Is(ReadWith({{"OMPI_COMM_WORLD_RANK", "1"}}), false, 0, 1));
}

}  // namespace
}  // namespace mailbench
