#include "harness/run/points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/error.h"

namespace mailbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Three algorithms: the subject, one that needs another transport, and a known-bad one.
class ThreeAlgorithms : public Collective {
 public:
  std::string_view name() const override { return "toy"; }
  std::string_view summary() const override { return "a collective for this test"; }
  std::span<const AlgorithmInfo> algorithms() const override { return kAlgorithms; }
  std::vector<Shape> Shapes(const RunConfig& config, int /*ranks*/) const override {
    std::vector<Shape> shapes;
    for (const std::int64_t bytes : config.bytes) {
      Shape shape;
      shape.variables = {{"bytes", bytes}};
      shape.bytes_per_rank = bytes;
      shapes.push_back(shape);
    }
    return shapes;
  }
  std::optional<std::string> UnsupportedReason(std::string_view algorithm,
                                               const RunConfig& /*config*/,
                                               const Site& site) const override {
    if (algorithm == "far" && site.transport != "moon") return "it needs transport moon";
    return std::nullopt;
  }
  std::optional<std::string> UnsupportedShape(std::string_view algorithm, const Shape& shape,
                                              const RunConfig& /*config*/,
                                              const Site& site) const override {
    if (algorithm == "far" && shape.variables[0].second > std::int64_t{16} * site.ranks_per_gpu) {
      return "only " + std::to_string(16 * site.ranks_per_gpu) + " bytes go there";
    }
    return std::nullopt;
  }
  std::size_t SymmetricBytes(std::string_view algorithm, const RunConfig& config,
                             const Site& /*site*/) const override {
    return algorithm == "far" ? static_cast<std::size_t>(config.capacity) : 0;
  }
  std::unique_ptr<Instance> Create(std::string_view /*algorithm*/,
                                   const InstanceContext& /*context*/) override {
    return nullptr;
  }

 private:
  static constexpr AlgorithmInfo kAlgorithms[] = {
      {"subject", "one"},
      {.name = "far", .summary = "two", .multicast = true},
      {"broken", "three", /*known_bad=*/true}};
};

Site At(std::string transport, int ranks) {
  Site site;
  site.transport = std::move(transport);
  site.ranks = ranks;
  site.ranks_per_gpu = 2;
  return site;
}

RunConfig Config(std::vector<std::string> algorithms) {
  RunConfig config;
  config.bytes = {16, 32};
  config.replays = 20;
  config.algorithms = std::move(algorithms);
  return config;
}

std::vector<std::string> Keys(const SweepPlan& plan) {
  std::vector<std::string> keys;
  for (const SweepPoint& point : plan.points) keys.push_back(ToString(point.key));
  return keys;
}

TEST(PlanSweep, RunsWhatCanRunAndSaysWhatIsSkipped) {
  const SweepPlan plan = PlanSweep(ThreeAlgorithms(), Config({}), At("host", 4));
  EXPECT_THAT(plan.algorithms, ElementsAre("subject"));
  ASSERT_EQ(plan.skipped.size(), 1u);
  EXPECT_EQ(plan.skipped[0].algorithm, "far");
  EXPECT_EQ(plan.skipped[0].reason, "it needs transport moon");
}

TEST(PlanSweep, WhatIsComparedStandsTogether) {
  EXPECT_THAT(Keys(PlanSweep(ThreeAlgorithms(), Config({}), At("moon", 4))),
              ElementsAre("toy/subject/moon/graph/l2=not controlled/bytes=16/ranks=4",
                          "toy/far/moon/graph/l2=not controlled/bytes=16/ranks=4",
                          "toy/subject/moon/eager/l2=not controlled/bytes=16/ranks=4",
                          "toy/far/moon/eager/l2=not controlled/bytes=16/ranks=4",
                          "toy/subject/moon/graph/l2=not controlled/bytes=32/ranks=4",
                          "toy/far/moon/graph/l2=not controlled/bytes=32/ranks=4",
                          "toy/subject/moon/eager/l2=not controlled/bytes=32/ranks=4",
                          "toy/far/moon/eager/l2=not controlled/bytes=32/ranks=4"));
}

TEST(PlanSweep, TheKnownBadRunsOnlyWhenNamed) {
  const SweepPlan plan = PlanSweep(ThreeAlgorithms(), Config({"broken"}), At("moon", 4));
  EXPECT_THAT(plan.algorithms, ElementsAre("broken"));
  EXPECT_TRUE(plan.skipped.empty());
}

TEST(PlanSweep, AnAlgorithmThatIsNamedAndCannotRunIsRefused) {
  try {
    PlanSweep(ThreeAlgorithms(), Config({"subject", "far"}), At("host", 4));
    FAIL() << "not refused";
  } catch (const MachineError& error) {
    EXPECT_THAT(error.what(), HasSubstr("far"));
    EXPECT_THAT(error.what(), HasSubstr("it needs transport moon"));
  }
}

TEST(PlanSweep, LeavesOutWhatOneShapeCannotRun) {
  Site site = At("moon", 4);
  site.ranks_per_gpu = 1;
  const SweepPlan plan = PlanSweep(ThreeAlgorithms(), Config({}), site);
  EXPECT_THAT(plan.algorithms, ElementsAre("subject", "far"));
  EXPECT_EQ(plan.points.size(), 6u);
  ASSERT_EQ(plan.skipped.size(), 1u);
  EXPECT_EQ(plan.skipped[0].algorithm, "far");
  ASSERT_TRUE(plan.skipped[0].shape.has_value());
  EXPECT_EQ(ToString(*plan.skipped[0].shape), "bytes=32");
  EXPECT_EQ(plan.skipped[0].reason, "only 16 bytes go there");
}

TEST(PlanSweep, AnAlgorithmWithoutAShapeIsLeftOutOrRefusedWhenNamed) {
  Site site = At("moon", 4);
  site.ranks_per_gpu = 0;
  const SweepPlan plan = PlanSweep(ThreeAlgorithms(), Config({}), site);
  EXPECT_THAT(plan.algorithms, ElementsAre("subject"));
  EXPECT_EQ(plan.skipped.size(), 2u);
  EXPECT_THROW(PlanSweep(ThreeAlgorithms(), Config({"subject", "far"}), site), MachineError);
}

Site OnGpu(std::int64_t l2_bytes) {
  Site site = At("moon", 4);
  site.on_gpu = true;
  site.l2_bytes = l2_bytes;
  return site;
}

TEST(PlanSweep, EveryStateOfL2IsAPointAndSaysWhereHotDoesNotFit) {
  RunConfig config = Config({"subject"});
  config.modes = {Mode::kIsolated};
  config.l2 = {L2State::kCold, L2State::kHot};
  // Two ranks share a quarter of L2: 24 bytes each, of which a call of 16 bytes takes 16.
  const SweepPlan plan = PlanSweep(ThreeAlgorithms(), config, OnGpu(192));
  EXPECT_THAT(Keys(plan), ElementsAre("toy/subject/moon/isolated/l2=cold/bytes=16/ranks=4",
                                      "toy/subject/moon/isolated/l2=hot/bytes=16/ranks=4",
                                      "toy/subject/moon/isolated/l2=cold/bytes=32/ranks=4",
                                      "toy/subject/moon/isolated/l2=exceeded/bytes=32/ranks=4"));
  EXPECT_TRUE(plan.skipped.empty());
  EXPECT_EQ(plan.points_per_shape, 2u);
  EXPECT_TRUE(plan.points[0].l2.evicts);
  EXPECT_FALSE(plan.points[1].l2.evicts);
}

TEST(PlanSweep, TheMailboxOfAHotCallCountsAsFarAsTheCallReaches) {
  RunConfig config = Config({"far"});
  config.modes = {Mode::kGraph};
  config.bytes = {16};
  config.capacity = 1 << 20;
  // 48 bytes a rank: the mailbox of one call and two of ten pairs of buffers.
  const SweepPlan plan = PlanSweep(ThreeAlgorithms(), config, OnGpu(std::int64_t{8} * 48));
  ASSERT_EQ(plan.points.size(), 1u);
  EXPECT_EQ(plan.points[0].key.l2, "hot");
  EXPECT_EQ(plan.points[0].l2.slots, 2);
}

TEST(PlanSweep, OnTheHostL2IsNotControlledAndColdIsSkipped) {
  RunConfig config = Config({"subject"});
  config.modes = {Mode::kEager};
  config.bytes = {16};
  for (const std::vector<L2State>& l2 :
       {std::vector{L2State::kCold, L2State::kHot}, std::vector{L2State::kHot, L2State::kCold}}) {
    config.l2 = l2;
    const SweepPlan plan = PlanSweep(ThreeAlgorithms(), config, At("host", 4));
    EXPECT_THAT(Keys(plan),
                ElementsAre("toy/subject/host/eager/l2=not controlled/bytes=16/ranks=4"));
    EXPECT_EQ(plan.points_per_shape, 1u);
    ASSERT_EQ(plan.skipped.size(), 1u);
    EXPECT_EQ(plan.skipped[0].algorithm, "subject");
    EXPECT_THAT(plan.skipped[0].reason, HasSubstr("cold"));
  }
  // What cannot run at all is refused for its own reason.
  config.algorithms = {"far"};
  config.bytes = {64};
  try {
    PlanSweep(ThreeAlgorithms(), config, At("moon", 4));
    FAIL() << "not refused";
  } catch (const MachineError& error) {
    EXPECT_THAT(error.what(), HasSubstr("bytes go there"));
  }
}

TEST(PlanSweep, ColdAloneIsRefusedWhereCachesAreNotControlled) {
  RunConfig config = Config({"subject"});
  config.l2 = {L2State::kCold};
  try {
    PlanSweep(ThreeAlgorithms(), config, At("host", 4));
    FAIL() << "not refused";
  } catch (const MachineError& error) {
    EXPECT_STREQ(error.what(),
                 "L2 cold cannot be had here: the caches of the host are not controlled");
  }
  EXPECT_EQ(PlanSweep(ThreeAlgorithms(), config, OnGpu(192)).points.size(), 4u);
}

TEST(ListAlgorithms, MarksWhatIsBadAndWhatCannotRun) {
  const std::string text = ListAlgorithms(ThreeAlgorithms(), Config({}), At("host", 4));
  EXPECT_THAT(text, HasSubstr("  subject: one\n"));
  EXPECT_THAT(text, HasSubstr("  far: two (cannot run here: it needs transport moon)\n"));
  EXPECT_THAT(text, HasSubstr("  broken: three (known bad: runs only when named)\n"));
}

TEST(WantsMulticast, WhereAnAlgorithmThatIsAskedForDoes) {
  RunConfig config;
  EXPECT_TRUE(WantsMulticast(ThreeAlgorithms(), config));
  config.algorithms = {"subject", "broken"};
  EXPECT_FALSE(WantsMulticast(ThreeAlgorithms(), config));
  config.algorithms = {"subject", "far"};
  EXPECT_TRUE(WantsMulticast(ThreeAlgorithms(), config));
}

}  // namespace
}  // namespace mailbench
