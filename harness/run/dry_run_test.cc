#include "harness/run/dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "harness/run/toy_plan.h"

namespace mailbench {
namespace {

using testing::HasSubstr;

PlanEstimate FourParts() {
  PlanEstimate estimate;
  estimate.algorithms = {{"mailbox", 3072}, {"plain", 0}};
  estimate.region_bytes = 3072;
  estimate.most_buffer_bytes = std::size_t{5} << 20;
  estimate.set_up_seconds = 1;
  estimate.parts = {{1024, 0, 30}, {1536, 0, 0.04}, {2048, 0, 100}, {100, 0, 4}};
  return estimate;
}

TEST(ListPoints, GivesSamplesMemoryAndDurations) {
  const RunConfig config = ToyConfig({1024});
  const ToyGather toy;
  EXPECT_EQ(ListPoints(PlanSweep(toy, config, ToySite(2)), FourParts(), config, {}),
            R"(# toy on transport host, 2 ranks: 4 points, 5 warm-up samples each
# Memory a rank: 3.0 KiB symmetric (mailbox 3.0 KiB), and buffers of up to 5.0 MiB at once
# Estimated duration: about 2 min 15 s, from rough times a call; it may be several times as long or as short
#
# shape            algorithm       mode      l2            samples     buffers    estimated
#                                                          x calls    (a rank)     duration
  bytes=1024       mailbox         graph     -             20 x 10     1.0 KiB         30 s
  bytes=1024       plain           graph     -             20 x 10     1.5 KiB      < 0.1 s
  bytes=1024       mailbox         eager     -              20 x 1     2.0 KiB   1 min 40 s
  bytes=1024       plain           eager     -              20 x 1       100 B        4.0 s
)");
}

TEST(ListPoints, SaysWhatIsSkippedAndWhy) {
  const RunConfig config = ToyConfig({1024});
  const ToyGather toy;
  SweepPlan plan = PlanSweep(toy, config, ToySite(2));
  plan.skipped = {{"far", std::nullopt, "it needs transport moon"},
                  {"farther", std::nullopt, "it needs transport moon"},
                  {"mailbox", Shape{{{"bytes", 4096}}, 4096, 8192, 1}, "its grids do not fit"}};
  const std::string skipped =
      "# Skipped far, farther: it needs transport moon\n"
      "# Skipped mailbox bytes=4096: its grids do not fit\n"
      "# Memory a rank:";
  EXPECT_THAT(ListPoints(plan, FourParts(), config, {}), HasSubstr(" each\n" + skipped));
  EXPECT_THAT(ListStresses(plan, FourParts(), config), HasSubstr(" ranks\n" + skipped));
}

TEST(ListPoints, WhatAnEarlierRunHasDoneTakesNoTime) {
  const RunConfig config = ToyConfig({1024});
  const ToyGather toy;
  const std::string text =
      ListPoints(PlanSweep(toy, config, ToySite(2)), FourParts(), config,
                 {"toy/mailbox/host/eager/l2=not controlled/bytes=1024/ranks=2"});
  EXPECT_THAT(text, HasSubstr("about 35 s,"));
  EXPECT_THAT(text, HasSubstr("2.0 KiB  done before\n"));
}

TEST(ListStresses, GivesCallsMemoryAndDurations) {
  RunConfig config = ToyConfig({16, 1024});
  config.stress = 500;
  const ToyGather toy;
  EXPECT_EQ(ListStresses(PlanSweep(toy, config, ToySite(1)), FourParts(), config),
            R"(# toy on transport host, 1 rank
# Memory a rank: 3.0 KiB symmetric (mailbox 3.0 KiB), and buffers of up to 5.0 MiB at once
# Estimated duration: about 31 s, from rough times a call; it may be several times as long or as short
#
stress of mailbox: at least 500 calls, of 2 sizes from bytes=16 to bytes=1024, up to 10 in a graph; buffers of up to 1.0 KiB a rank, estimated duration 30 s
stress of plain: at least 500 calls, of 2 sizes from bytes=16 to bytes=1024, up to 10 in a graph; buffers of up to 1.5 KiB a rank, estimated duration < 0.1 s
)");
}

TEST(ListStresses, NoSymmetricMemoryIsSaid) {
  const RunConfig config = ToyConfig({16});
  PlanEstimate estimate = FourParts();
  estimate.algorithms = {{"plain", 0}};
  estimate.region_bytes = 0;
  const ToyGather toy;
  EXPECT_THAT(ListPoints(PlanSweep(toy, config, ToySite(1)), estimate, config, {}),
              HasSubstr("# Memory a rank: 0 B symmetric, and buffers"));
}

}  // namespace
}  // namespace mailbench
