#include "harness/report/table.h"

#include <gtest/gtest.h>

#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

TEST(TableTest, HeadNamesTheRunAndTheColumns) {
  RunFacts facts = SampleFacts();
  facts.environment.hosts = {{"node1", {0, 1, 2, 5}}, {"node2", {3, 6, 7}}, {"node3", {4}}};
  EXPECT_EQ(FormatTableHead({facts.identity.collective,
                             "0.1.0",
                             facts.environment,
                             {"lamport", "mpi"},
                             facts.skipped}),
            // clang-format off
            "# lamport_all_gather (mailbench 0.1.0)\n"
            "# Ranks: 4\n"
            "# Host node1: ranks 0-2, 5\n"
            "# Host node2: ranks 3, 6, 7\n"
            "# Host node3: rank 4\n"
            "# Transport: host\n"
            "#   not unicast: no GPU\n"
            "# Algorithms: lamport, mpi\n"
            "#   skipped nccl: no GPU\n"
            "# Times: microseconds a call, of the slowest rank\n"
            "#\n"
            "# bytes/rank   bytes total  algorithm      mode            p50        p99        max     algbw     busbw  #wrong\n"
            "#        (B)           (B)                                (us)       (us)       (us)    (GB/s)    (GB/s) (words)\n");
  // clang-format on
}

TEST(TableTest, RowsStandUnderTheColumns) {
  // clang-format off
  PointRecord point = SamplePoint(16);
  EXPECT_EQ(FormatTableRow(point),
            "          16            64  lamport        graph          2.25       3.50       4.00     0.500     0.375       0\n");
  point = SamplePoint(524288);
  point.key.mode = "eager";
  point.latency_us.max = 1234567.891;
  point.checked = false;
  EXPECT_EQ(FormatTableRow(point),
            "      524288       2097152  lamport        eager          2.25       3.50 1234567.89     0.500     0.375     N/A\n");
  point.checked = true;
  point.check.mismatches = 2;
  point.check.leftover = 5;
  point.key.algorithm = "a-name-that-is-too-long";
  EXPECT_EQ(FormatTableRow(point),
            "      524288       2097152  a-name-that-is-too-long eager          2.25       3.50 1234567.89     0.500     0.375       7\n");
  // clang-format on
}

TEST(TableTest, FootGivesTheVerdict) {
  EXPECT_EQ(FormatTableFoot({1, 3, true, 0, true, ""}),
            "#\n# Points: 1, and 3 of an earlier run\n"
            "# Wrong words: 0 OK, and the earlier run FAILED\n");
  EXPECT_EQ(FormatTableFoot({12, 0, true, 0, false, "a.json"}),
            "#\n# Points: 12\n# Wrong words: 0 OK\n# Report: a.json\n");
  EXPECT_EQ(FormatTableFoot({1, 3, true, 7, false, ""}),
            "#\n# Points: 1, and 3 of an earlier run\n# Wrong words: 7 FAILED\n");
  EXPECT_EQ(FormatTableFoot({1, 0, false, 0, false, ""}),
            "#\n# Points: 1\n# Wrong words: N/A (not checked)\n");
}

}  // namespace
}  // namespace mailbench::test
