#include "harness/report/table.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "harness/report/report_test_data.h"

namespace mailbench::test {
namespace {

// A part of a floor whose interval is narrow.
FloorPart Known(double us) { return {us, {us, us, 0.96}}; }

TEST(TableTest, HeadNamesTheRunAndTheColumns) {
  RunFacts facts = SampleFacts();
  facts.environment.hosts = {{"node1", {0, 1, 2, 5}}, {"node2", {3, 6, 7}}, {"node3", {4}}};
  EXPECT_EQ(
      FormatRunHead({facts.identity.collective,
                     "0.1.0",
                     facts.environment,
                     {"lamport", "mpi"},
                     facts.skipped}) +
          FormatColumns(Floor{
              .empty_kernel = Known(0.4), .hop = Known(0.35), .publish_to_all = Known(0.412)}),
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
            "# Floor: 0.81 us = an empty kernel 0.40 + from everybody to everybody 0.41, one hop 0.35\n"
            "# Times: microseconds a call, of the slowest rank\n"
            "# p50 -3% +9%: its 95 % interval, where that is wider than 5 % of it\n"
            "#\n"
            "# bytes/rank   bytes total  algorithm      mode     l2              p50        p99        max     algbw     busbw  #wrong\n"
            "#        (B)           (B)                                         (us)       (us)       (us)    (GB/s)    (GB/s) (words)\n");
  // clang-format on
}

TEST(TableTest, ColumnsDoWithoutAFloor) {
  const std::string without = FormatColumns(std::nullopt);
  EXPECT_EQ(without.find("# Times"), 0u);
  const std::string one_rank =
      FormatColumns(Floor{.empty_kernel = Known(1), .publish_to_all = Known(2)});
  EXPECT_EQ(
      one_rank,
      "# Floor: 3.00 us = an empty kernel 1.00 + from everybody to everybody 2.00\n" + without);
}

TEST(TableTest, TheFloorSaysHowWellItIsKnown) {
  Floor floor{.empty_kernel = Known(0.4), .publish_to_all = Known(0.6)};
  const auto lines = [&] {
    const std::string text = FormatColumns(floor);
    return text.substr(0, text.find("# Times"));
  };
  floor.hop = {0.5, {0.49, 0.514, 0.96}};
  EXPECT_EQ(lines(),
            "# Floor: 1.00 us = an empty kernel 0.40 + from everybody to everybody 0.60, "
            "one hop 0.50\n");
  floor.hop->interval_us.high = 0.516;
  floor.publish_to_all.interval_us.confidence = 0.75;
  floor.eager_call = {15, {14.7, 23.4, 0.96}};
  floor.steady = false;
  EXPECT_EQ(lines(),
            "# Floor: 1.00 us = an empty kernel 0.40 + from everybody to everybody 0.60 "
            "(-0% +0% at 75%), one hop 0.50 (-2% +3%), not steady\n"
            "#   of a call by itself: eager 15.00 (-2% +56%) us\n");
  floor.isolated_call = Known(12.3);
  EXPECT_NE(lines().find("by itself: isolated 12.30 us, eager 15.00 "), std::string::npos);
}

// The lines between the transport and the algorithms.
std::string GpuPart(const Environment& environment) {
  const std::string head = FormatRunHead({"c", "0.1.0", environment, {"lamport"}, {}});
  const std::size_t begin = head.find("# GPU");
  return begin == std::string::npos ? "" : head.substr(begin, head.find("# Algorithms") - begin);
}

TEST(TableTest, HeadNamesTheGpusAndNccl) {
  Environment environment = SampleGpuFacts().environment;
  EXPECT_EQ(GpuPart(environment),
            "# GPU NVIDIA H200 (132 SMs, up to 1980 MHz): ranks 0, 2, under MPS\n"
            "# GPU NVIDIA H200 (132 SMs, up to 1980 MHz): ranks 1, 3, under MPS\n"
            "# NCCL 2.32.3\n");
  environment.gpus[0].mps = false;
  environment.gpus.pop_back();
  environment.gpus[1].mps = false;
  environment.gpus[1].sm_clock_max_mhz.reset();
  environment.nccl_version.clear();
  environment.nccl_refusal = "there is no libnccl.so.2";
  EXPECT_EQ(GpuPart(environment),
            "# GPU NVIDIA H200 (132 SMs, up to 1980 MHz): ranks 0, 2\n"
            "#   without MPS these ranks take turns on it (time-sliced): their times mean little\n"
            "# GPU NVIDIA H200 (132 SMs): rank 1\n"
            "# No NCCL: there is no libnccl.so.2\n");
  EXPECT_EQ(GpuPart(SampleFacts().environment), "");
}

TEST(TableTest, HeadSaysWhichRanksHaveAnNvlinkFabricThatIsNotHealthy) {
  Environment environment = SampleGpuFacts().environment;
  const auto line = [&] {
    const std::string part = GpuPart(environment);
    const std::size_t begin = part.find("# NVLink");
    return begin == std::string::npos ? "" : part.substr(begin, part.find("# NCCL") - begin);
  };
  EXPECT_EQ(line(), "");
  environment.gpus[1].place.health_mask = 0x1a9;
  EXPECT_EQ(line(), "# NVLink not healthy: degraded bandwidth (rank 1)\n");
  // The ranks of the same trouble once, however the rest of their masks may be.
  environment.gpus[2].place.health_mask = 0x199;
  environment.gpus[3].place.health_mask = 0x591;
  EXPECT_EQ(line(),
            "# NVLink not healthy: degraded bandwidth (ranks 1-3); route unhealthy (ranks 2, 3); "
            "incorrect configuration: insufficient NVLinks (rank 3)\n");
}

TEST(TableTest, FootCountsThePointsLeftOutByReason) {
  const Shape shape = SamplePoint(1 << 20).key.shape;
  TableFoot foot;
  foot.points = 3;
  foot.skipped = {{"nccl", std::nullopt, "no GPU"},
                  {"lamport", shape, "its grids do not fit"},
                  {"overlapped", shape, "too large"},
                  {"other", shape, "its grids do not fit"}};
  foot.points_per_shape = 2;
  EXPECT_EQ(FormatTableFoot(foot),
            "#\n# Points: 3\n"
            "# Points left out: 6\n"
            "#   4: its grids do not fit\n"
            "#   2: too large\n"
            "# Wrong words: 0 OK\n");
  const TableHead head = {"c", "0.1.0", {}, {"lamport"}, foot.skipped};
  EXPECT_NE(FormatRunHead(head).find("skipped nccl"), std::string::npos);
  EXPECT_EQ(FormatRunHead(head).find("do not fit"), std::string::npos);
}

TEST(TableTest, HeadSaysAReasonOnceForAllThatItKeepsFromRunning) {
  const Shape shape = SamplePoint(1 << 20).key.shape;
  const std::vector<Skipped> skipped = {{"a", std::nullopt, "no GPU"},
                                        {"b", std::nullopt, "no NCCL"},
                                        {"a", shape, "no GPU"},
                                        {"c", std::nullopt, "no GPU"}};
  const std::string head = FormatRunHead({"c", "0.1.0", {}, {"lamport"}, skipped});
  EXPECT_EQ(head.substr(head.find("#   skipped")),
            "#   skipped a, c: no GPU\n"
            "#   skipped b: no NCCL\n");
}

TEST(TableTest, RowsStandUnderTheColumns) {
  // clang-format off
  PointRecord point = SamplePoint(16, 99);
  EXPECT_EQ(FormatTableRow(point),
            "          16            64  lamport        graph    -              2.25          -       4.00     0.500     0.375       0\n");
  point = SamplePoint(524288, 100);
  point.key.mode = "eager";
  point.key.l2 = "exceeded";
  point.warmup = {50, false, {}};
  point.latency_us.max = 1234567.891;
  point.checked = false;
  EXPECT_EQ(FormatTableRow(point),
            "      524288       2097152  lamport        eager    exceeded       2.25       3.50 1234567.89     0.500     0.375     N/A  not steady\n");
  point.checked = true;
  point.key.l2 = "cold";
  point.warmup.steady = true;
  point.check.mismatches = 2;
  point.check.leftover = 5;
  point.key.algorithm = "a-name-that-is-too-long";
  EXPECT_EQ(FormatTableRow(point),
            "      524288       2097152  a-name-that-is-too-long eager    cold           2.25       3.50 1234567.89     0.500     0.375       7\n");
  // clang-format on
}

// What stands behind the last column of a row whose p50 is 2.
std::string NoteOf(const MedianInterval& interval) {
  PointRecord point = SamplePoint(16);
  point.latency_us.p50 = 2;
  const std::size_t width = FormatTableRow(point).size() - 1;
  point.p50_interval_us = interval;
  const std::string row = FormatTableRow(point);
  return row.substr(width, row.size() - 1 - width);
}

TEST(TableTest, RowsSayThatTheMedianIsUncertain) {
  EXPECT_EQ(NoteOf({1.98, 2.079, 0.96}), "");
  EXPECT_EQ(NoteOf({1.98, 2.081, 0.96}), "  p50 -1% +4%");
  EXPECT_EQ(NoteOf({1.94, 2.18, 0.96}), "  p50 -3% +9%");
  EXPECT_EQ(NoteOf({2, 6, 0.96}), "  p50 -0% +200%");
  // Too few samples, however close they are.
  EXPECT_EQ(NoteOf({1.94, 2.18, 0.75}), "  p50 -3% +9% at 75%");
  EXPECT_EQ(NoteOf({2, 2, 0}), "  p50 -0% +0% at 0%");
  PointRecord point = SamplePoint(16);
  point.p50_interval_us = {1.8, 2.7, 0.96};
  // clang-format off
  EXPECT_EQ(FormatTableRow(point),
            "          16            64  lamport        graph    -              2.25          -       4.00     0.500     0.375       0  p50 -20% +20%\n");
  // clang-format on
}

TEST(TableTest, RowsSayWhatToMakeOfTheTime) {
  PointRecord point = SamplePoint(16);  // p50 2.25
  const std::size_t width = FormatTableRow(point).size() - 1;
  const auto note = [&] {
    const std::string row = FormatTableRow(point);
    return row.substr(width, row.size() - 1 - width);
  };
  point.clock_step_us = 0.11;
  point.floor_call_us = 2.25;
  EXPECT_EQ(note(), "");
  point.clock_step_us = 1.024;
  EXPECT_EQ(note(), "  timed in steps of 1.02 us");
  point.floor_call_us = 2.26;
  EXPECT_EQ(note(), "  timed in steps of 1.02 us  below the floor");
}

TEST(TableTest, RowsSayThatAClockHasChanged) {
  PointRecord point = SamplePoint(16);
  const std::size_t width = FormatTableRow(point).size() - 1;
  const auto note = [&] {
    const std::string row = FormatTableRow(point);
    return row.substr(width, row.size() - 1 - width);
  };
  const auto set = [&](std::size_t rank, std::optional<int> before, std::optional<int> after) {
    point.per_rank[rank].clock_before_mhz = before;
    point.per_rank[rank].clock_after_mhz = after;
  };
  set(0, 2000, 1960);
  set(1, 2000, 2040);
  EXPECT_EQ(note(), "") << "2 % are nothing";
  set(2, std::nullopt, 1000);
  set(3, 1000, std::nullopt);
  EXPECT_EQ(note(), "") << "before or after is not known";
  set(1, 2000, 2042);
  EXPECT_EQ(note(), "  clock +2% (rank 1)");
  set(2, 1980, 1755);
  EXPECT_EQ(note(), "  clock -11% (rank 2)");
  point.warmup.steady = false;
  EXPECT_EQ(note(), "  not steady  clock -11% (rank 2)");
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

TEST(TableTest, StressHasATableOfItsOwn) {
  const TableHead head = {"toy", "0.1.0", SampleFacts().environment, {"lamport"}, {}};
  const std::string text = FormatStressHead(head, 1000);
  ASSERT_EQ(text.find(FormatRunHead(head)), 0u);
  StressRecord record = SampleStress();
  record.wrong_calls = 252;
  record.check.mismatches = 300;
  // clang-format off
  EXPECT_EQ(text.substr(FormatRunHead(head).size()) + FormatStressRow(record),
            "# Stress: at least 1000 calls an algorithm, sizes alternate, every call is checked on every rank\n"
            "#\n"
            "#algorithm                      calls wrong calls per million wrong words   left over   seconds\n"
            "lamport                          1008         252    250000.0         300           0       0.5\n"
            "#   3.50 us a call, verified and with late ranks; 2.25 us without\n");
  // clang-format on
  EXPECT_EQ(FormatStressFoot(0, ""), "#\n# Wrong words: 0 OK\n");
  EXPECT_EQ(FormatStressFoot(7, "a.json"), "#\n# Wrong words: 7 FAILED\n# Report: a.json\n");
}

}  // namespace
}  // namespace mailbench::test
