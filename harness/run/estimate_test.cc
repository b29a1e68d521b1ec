#include "harness/run/estimate.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/floor/floor_probe.h"
#include "harness/launch/start_gate.h"
#include "harness/measure/l2.h"
#include "harness/run/toy_plan.h"
#include "harness/stress/round.h"

namespace mailbench {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::size_t MiB(std::size_t count) { return count << 20; }
constexpr int kManyProcessors = 1024;

PlanEstimate Points(const RunConfig& config, const Site& site, int processors = kManyProcessors) {
  const ToyGather toy;
  return EstimatePoints(toy, PlanSweep(toy, config, site), config, site, processors);
}

double Seconds(const PlanEstimate& estimate) {
  double seconds = estimate.set_up_seconds;
  for (const PartEstimate& part : estimate.parts) seconds += part.seconds;
  return seconds;
}

TEST(EstimatePoints, OneRegionHoldsAllThatIsSymmetric) {
  const PlanEstimate estimate = Points(ToyConfig({16, 1024}), ToySite(4));
  ASSERT_EQ(estimate.algorithms.size(), 2u);
  EXPECT_EQ(estimate.algorithms[0].algorithm, "mailbox");
  EXPECT_EQ(estimate.algorithms[0].symmetric_bytes, 4097u);
  EXPECT_EQ(estimate.algorithms[1].symmetric_bytes, 0u);
  EXPECT_EQ(estimate.region_bytes, 4096u + 128u + AlignSymmetric(FloorProbe::Bytes(4)) +
                                       AlignSymmetric(StartGate::kBytes));
}

class ToyFloor : public ToyGather {
 public:
  bool has_floor() const override { return false; }
};

TEST(EstimatePoints, WhatIsTheFloorTakesNoRegionForIt) {
  const RunConfig config = ToyConfig({16, 1024});
  const Site site = ToySite(4);
  const ToyFloor toy;
  const std::size_t bytes =
      EstimatePoints(toy, PlanSweep(toy, config, site), config, site, 4).region_bytes;
  EXPECT_EQ(bytes, Points(config, site).region_bytes - AlignSymmetric(FloorProbe::Bytes(4)));
}

TEST(EstimatePoints, BuffersAreThoseOfCallsInFlight) {
  RunConfig config = ToyConfig({16 * kMiB});
  config.calls_per_graph = 10;
  const PlanEstimate estimate = Points(config, ToySite(2));
  ASSERT_EQ(estimate.parts.size(), 4u);
  EXPECT_EQ(estimate.parts[0].buffer_bytes, MiB(96)) << "two outputs are 64 MiB";
  EXPECT_EQ(estimate.parts[2].buffer_bytes, MiB(48)) << "eager";
}

// An algorithm keeps its buffers until its next point.
TEST(EstimatePoints, TheBuffersOfAllAlgorithmsAreThereAtOnce) {
  RunConfig config = ToyConfig({16 * kMiB});
  config.modes = {Mode::kEager, Mode::kGraph};
  EXPECT_EQ(Points(config, ToySite(2)).most_buffer_bytes, MiB(192));
  config.algorithms = {"plain"};
  EXPECT_EQ(Points(config, ToySite(2)).most_buffer_bytes, MiB(96));
  config.modes = {Mode::kGraph, Mode::kEager};
  EXPECT_EQ(Points(config, ToySite(2)).most_buffer_bytes, MiB(96)) << "not the last, the most";
}

TEST(EstimatePoints, CallsAreThoseOfChecksWarmUpAndSamples) {
  RunConfig config = ToyConfig({16});
  config.warmup = 5;
  config.iters = 30;
  config.replays = 20;
  config.calls_per_graph = 10;
  const PlanEstimate checked = Points(config, ToySite(2));
  EXPECT_EQ(checked.parts[0].calls, (20 + 7 * 5 + 1 + 3) * 10) << "it takes seven batches";
  EXPECT_EQ(checked.parts[2].calls, 30 + 7 * 5 + 1 + 3);
  EXPECT_EQ(Points(config, ToySite(2, true)).parts[2].calls, 30 + 3 * 5 + 1 + 3);
  config.check = false;
  EXPECT_EQ(Points(config, ToySite(2)).parts[0].calls, (20 + 7 * 5 + 1) * 10);
  EXPECT_LT(Points(config, ToySite(2)).parts[0].seconds, checked.parts[0].seconds);
}

TEST(EstimatePoints, AWarmUpEndsWhenItsTimeIsOver) {
  RunConfig config = ToyConfig({1024});
  config.check = false;
  config.warmup = 0;
  EXPECT_EQ(Points(config, ToySite(2)).parts[2].calls, 20 + 1);
  config.warmup = 1000;
  config.bytes = {256 * kMiB};  // some seconds a call
  config.capacity = 256 * kMiB;
  EXPECT_EQ(Points(config, ToySite(2)).parts[2].calls, 20 + 1000 + 1);
}

TEST(EstimatePoints, TakesLongerWithMoreBytesCallsAndRanksThanProcessors) {
  const RunConfig config = ToyConfig({1024});
  for (const bool on_gpu : {false, true}) {
    const Site site = ToySite(4, on_gpu);
    const double seconds = Points(config, site).parts[0].seconds;
    EXPECT_GT(Points(ToyConfig({kMiB}), site).parts[0].seconds, seconds);
    RunConfig more = config;
    more.replays *= 100;
    EXPECT_GT(Points(more, site).parts[0].seconds, 2 * seconds);
  }
  const double spread = Seconds(Points(config, ToySite(4), 4));
  EXPECT_DOUBLE_EQ(Seconds(Points(config, ToySite(4), 8)), spread);
  EXPECT_DOUBLE_EQ(Seconds(Points(config, ToySite(4), 2)), 2 * spread);
  EXPECT_DOUBLE_EQ(Seconds(Points(config, ToySite(4, true), 2)),
                   Seconds(Points(config, ToySite(4, true), 4)));
}

// On the host MPI is compiled for the processor, a mailbox's kernel acted out thread by thread.
TEST(EstimatePoints, ALibraryIsFasterOnTheHost) {
  const PlanEstimate host = Points(ToyConfig({kMiB}), ToySite(4));
  EXPECT_GT(host.parts[0].seconds, 5 * host.parts[1].seconds);
  const PlanEstimate gpus = Points(ToyConfig({kMiB}), ToySite(4, true));
  EXPECT_EQ(gpus.parts[0].seconds, gpus.parts[1].seconds);
}

// configs/one_gpu with four ranks and four algorithms took 34 s on one H200.
TEST(EstimatePoints, HasTheOrderOfMagnitudeOfWhatWasMeasured) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 16; bytes <= kMiB / 2; bytes *= 2) sizes.push_back(bytes);
  RunConfig config = ToyConfig(sizes);
  config.iters = config.replays = 50;
  config.warmup = 10;
  config.calls_per_graph = 500;
  const double seconds = 2 * Seconds(Points(config, ToySite(4, true)));
  EXPECT_GT(seconds, 34 / 3.0);
  EXPECT_LT(seconds, 34 * 3.0);
}

// configs/quick with four ranks and three algorithms, two of them with a mailbox, took 31 s on two
// cores of a server.
TEST(EstimatePoints, HasTheOrderOfMagnitudeOfWhatWasMeasuredOnTheHost) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 16; bytes <= kMiB / 2; bytes *= 2) sizes.push_back(bytes);
  RunConfig config = ToyConfig(sizes);
  config.iters = config.replays = 10;
  config.warmup = 2;
  config.calls_per_graph = 5;
  const PlanEstimate estimate = Points(config, ToySite(4), /*processors=*/2);
  double seconds = Seconds(estimate);
  for (std::size_t i = 0; i < estimate.parts.size(); i += 2) seconds += estimate.parts[i].seconds;
  EXPECT_GT(seconds, 31 / 2.0);
  EXPECT_LT(seconds, 31 * 2.0);
}

TEST(EstimateStresses, OnePartAnAlgorithm) {
  RunConfig config = ToyConfig({16, 1024});
  config.stress = 5000;
  const ToyGather toy;
  const Site site = ToySite(3);
  const SweepPlan plan = PlanSweep(toy, config, site);
  const PlanEstimate estimate = EstimateStresses(toy, plan, config, site, kManyProcessors);
  ASSERT_EQ(estimate.parts.size(), 2u);
  EXPECT_EQ(estimate.parts[0].calls, 5000);
  EXPECT_GT(estimate.parts[0].seconds, 0);
  EXPECT_EQ(estimate.region_bytes, 3 * 1024u + 128u);
  EXPECT_EQ(estimate.most_buffer_bytes, 2 * estimate.parts[0].buffer_bytes);
  // Three graphs of ten calls and two calls beside them, none larger than the largest.
  EXPECT_EQ(estimate.parts[0].buffer_bytes, 32u * (1024 + 3 * 1024));
}

// No round that is drawn takes more, and the bound is not far off.
TEST(EstimateStresses, BuffersAreTheMostOfAnyRound) {
  const ToyGather toy;
  for (const std::int64_t largest : {std::int64_t{64}, 5 * kMiB, 100 * kMiB}) {
    for (const int calls : {1, 7, 400}) {
      RunConfig config = ToyConfig({16, 32, 48, largest});
      config.stress = 1;
      config.calls_per_graph = calls;
      const Site site = ToySite(2);
      const SweepPlan plan = PlanSweep(toy, config, site);
      const std::size_t bound = EstimateStresses(toy, plan, config, site, 1).parts[0].buffer_bytes;
      const std::vector<Shape> shapes = ShapesOf("mailbox", plan);
      ASSERT_EQ(shapes.size(), 4u);
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RoundDraw draw(shapes, calls, 2, seed);
        for (int i = 0; i < 5; ++i) {
          const StressRound round = draw.Next(1);
          EXPECT_LE(toy.BufferBytes("mailbox", round.shapes, config, site), bound)
              << largest << " bytes, " << calls << " calls";
        }
      }
      const auto call = static_cast<std::size_t>(3 * largest);
      EXPECT_LE(bound, MiB(96) + 6 * call + static_cast<std::size_t>(calls) * 6 * 512);
    }
  }
}

// Each of many calls is rounded up: that may be more than what the budget leaves of a large one.
TEST(EstimateStresses, BuffersThatAreRoundedUpCountAsSuch) {
  const ToyGather toy;
  const Site site = ToySite(2);
  RunConfig config = ToyConfig({16, 27'952, 3'728'272});  // three of the largest: a few bytes over
  config.stress = 1;
  config.calls_per_graph = 400;
  const SweepPlan plan = PlanSweep(toy, config, site);
  const std::vector<Shape> shapes = ShapesOf("mailbox", plan);
  std::vector<Shape> graph(1200, shapes[1]);
  ASSERT_LE(400 * shapes[1].bytes_total, kOutputBudgetBytes / 3);
  graph.insert(graph.end(), 2, shapes[2]);
  EXPECT_LE(toy.BufferBytes("mailbox", graph, config, site),
            EstimateStresses(toy, plan, config, site, 1).parts[0].buffer_bytes);
}

}  // namespace
}  // namespace mailbench
