// Under mpirun, on the host machine.
#include "harness/floor/measure_floor.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "harness/memory/host_transport.h"
#include "harness/ranks/test_ranks.h"

namespace mailbench {
namespace {

class FloorOnHost : public testing::TestWithParam<bool> {
 protected:
  FloorOnHost() : transport_(MakeTransport()) {
    region_ = transport_->Allocate(FloorProbe::Bytes(TestRanks().size()));
    probe_.emplace(region_->view(), transport_->executor());
    latches_ = transport_->Allocate(StartGate::kBytes);
    gate_.emplace(latches_->view(), TestRanks());
    TestRanks().Barrier();
  }
  ~FloorOnHost() override {
    TestRanks().Barrier();
    probe_.reset();
    region_->Free();
    gate_.reset();
    latches_->Free();
  }

  static std::unique_ptr<HostTransport> MakeTransport() {
    return GetParam() ? std::make_unique<HostTransport>(TestRanks(), /*seed=*/1)
                      : std::make_unique<HostTransport>(TestRanks());
  }

  std::unique_ptr<HostTransport> transport_;
  std::unique_ptr<SymmetricRegion> region_;
  std::optional<FloorProbe> probe_;
  std::unique_ptr<SymmetricRegion> latches_;
  std::optional<StartGate> gate_;
};

INSTANTIATE_TEST_SUITE_P(Transports, FloorOnHost, testing::Bool(), [](const auto& multicast) {
  return multicast.param ? "HostMulticast" : "Host";
});

void ExpectKnown(const FloorPart& part) {
  EXPECT_GT(part.interval_us.low, 0);
  EXPECT_LE(part.interval_us.low, part.us);
  EXPECT_LE(part.us, part.interval_us.high);
  EXPECT_GE(part.interval_us.confidence, kMedianConfidence);
  EXPECT_EQ(TestRanks().Max(part.us), part.us) << "ranks differ";
}

TEST_P(FloorOnHost, EveryPartIsThere) {
  const Floor floor = MeasureFloor(*probe_, transport_->executor(), *gate_, TestRanks());
  ExpectKnown(floor.empty_kernel);
  ExpectKnown(floor.publish_to_all);
  EXPECT_EQ(floor.hop.has_value(), TestRanks().size() > 1);
  if (floor.hop) ExpectKnown(*floor.hop);
  EXPECT_EQ(floor.call_us(Mode::kGraph), floor.empty_kernel.us + floor.publish_to_all.us);
  EXPECT_EQ(floor.call_us(Mode::kIsolated), std::nullopt);
  EXPECT_EQ(floor.call_us(Mode::kEager), std::nullopt);
}

TEST_P(FloorOnHost, CallsByThemselvesAreMeasuredWhereAskedFor) {
  const Floor floor = MeasureFloor(*probe_, transport_->executor(), *gate_, TestRanks(),
                                   {.isolated = true, .eager = true});
  ASSERT_TRUE(floor.isolated_call.has_value() && floor.eager_call.has_value());
  ExpectKnown(*floor.isolated_call);
  ExpectKnown(*floor.eager_call);
  EXPECT_EQ(floor.call_us(Mode::kIsolated), floor.isolated_call->us);
  EXPECT_EQ(floor.call_us(Mode::kEager), floor.eager_call->us);
  EXPECT_TRUE(probe_->Check(FloorKind::kPublishToAll).passed());
}

TEST_P(FloorOnHost, CountersAreChecked) {
  const int ranks = TestRanks().size();
  for (const FloorKind kind : {FloorKind::kPublishToAll, FloorKind::kHop}) {
    transport_->executor().Time(1, [&] { probe_->Enqueue(kind, 3); });
    const CheckResult right = probe_->Check(kind);
    EXPECT_EQ(right.compared, 4u * (kind == FloorKind::kHop ? 1u : static_cast<unsigned>(ranks)));
    EXPECT_TRUE(right.passed()) << right.first;
    TestRanks().Barrier();
    // One word of the counter that rank 0 keeps here.
    const int partner = FloorPartner(TestRanks().rank(), ranks);
    const auto pack = static_cast<std::size_t>(
        FloorLayout{ranks}.Counter(kind, kind == FloorKind::kHop ? partner : 0));
    reinterpret_cast<Pack*>(region_->view().local())[pack].word[2] ^= 8u;
    const CheckResult wrong = probe_->Check(kind);
    EXPECT_EQ(wrong.mismatches, 1u);
    EXPECT_NE(wrong.first.find("is 11 after 3 rounds"), std::string::npos) << wrong.first;
    reinterpret_cast<Pack*>(region_->view().local())[pack].word[2] ^= 8u;
    TestRanks().Barrier();
  }
}

}  // namespace
}  // namespace mailbench
