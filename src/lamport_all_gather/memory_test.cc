// Under mpirun: what a run takes of memory is what --dry-run says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/memory/host_transport.h"
#include "harness/ranks/test_ranks.h"
#include "harness/run/agreement.h"
#include "harness/run/estimate.h"
#include "harness/run/points.h"
#include "harness/run/stress.h"
#include "harness/run/sweep.h"
#include "src/lamport_all_gather/lamport_all_gather.h"

namespace mailbench {
namespace {

// Bytes that are taken just now, and the most that ever were.
struct Taken {
  void Add(std::size_t bytes) {
    now += bytes;
    most = std::max(most, now);
  }
  std::size_t now = 0;
  std::size_t most = 0;
};

class CountedBuffer : public Buffer {
 public:
  CountedBuffer(std::unique_ptr<Buffer> buffer, std::size_t bytes, Taken& taken)
      : buffer_(std::move(buffer)), bytes_(bytes), taken_(taken) {
    taken_.Add(bytes_);
  }
  ~CountedBuffer() override { taken_.now -= bytes_; }
  std::byte* data() const override { return buffer_->data(); }

 private:
  std::unique_ptr<Buffer> buffer_;
  std::size_t bytes_;
  Taken& taken_;
};

// The host's, with its memory counted.
class CountingExecutor : public HostExecutor {
 public:
  std::unique_ptr<Buffer> Allocate(std::size_t bytes) override {
    return std::make_unique<CountedBuffer>(HostExecutor::Allocate(bytes), bytes, taken);
  }
  Taken taken;
};

class CountingTransport : public Transport {
 public:
  explicit CountingTransport(const Ranks& ranks) : host_(ranks) {}
  std::string_view name() const override { return host_.name(); }
  const Site& site() const override { return host_.site(); }
  CountingExecutor& executor() override { return executor_; }
  Reference& reference() override { return host_.reference(); }
  std::unique_ptr<SymmetricRegion> Allocate(std::size_t bytes) override {
    regions.push_back(bytes);
    return host_.Allocate(bytes);
  }
  std::vector<std::size_t> regions;

 private:
  HostTransport host_;
  CountingExecutor executor_;
};

class Memory : public testing::Test {
 protected:
  RunConfig Config(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "lamport_all_gather");
    return ParseArguments(static_cast<int>(arguments.size()), arguments.data(), collective_)
        .command_line.config;
  }
  MeasureContext Context(const RunConfig& config) {
    return {config,     TestRanks(), transport_.executor(), transport_.reference(),
            heartbeat_, current_};
  }

  LamportAllGather collective_;
  CountingTransport transport_{TestRanks()};
  HeartbeatSlot slot_{};
  Heartbeat heartbeat_{&slot_};
  CurrentInstance current_;
};

TEST_F(Memory, OfOneAlgorithmIsWhatItsBuffersTake) {
  for (const char* layout : {"aligned", "misaligned", "strided"}) {
    const RunConfig config = Config({"--bytes", "16,1008,64K", "--input", layout});
    std::vector<Shape> in_flight = collective_.Shapes(config, TestRanks().size());
    in_flight.push_back(in_flight.front());
    const std::unique_ptr<Instance> instance = collective_.Create(
        "mpi",
        {config, TestRanks(), transport_, transport_.executor(), transport_.reference(), {}});
    instance->Bind(in_flight);
    EXPECT_EQ(transport_.executor().taken.now,
              collective_.BufferBytes("mpi", in_flight, config, transport_.site()))
        << layout;
    instance->Free();
    EXPECT_EQ(transport_.executor().taken.now, 0u);
  }
}

TEST_F(Memory, OnGpusThereIsRoomForACopyOfAnInput) {
  const RunConfig config = Config({"--bytes", "16,1008"});
  const std::vector<Shape> in_flight = collective_.Shapes(config, 2);
  Site site;
  site.ranks = 2;
  const std::size_t on_host = collective_.BufferBytes("lamport", in_flight, config, site);
  EXPECT_EQ(on_host, 256u + 256 + 1024 + 2048);
  site.on_gpu = true;
  EXPECT_EQ(collective_.BufferBytes("lamport", in_flight, config, site), on_host + 1008);
}

TEST_F(Memory, OfASweepIsWhatIsEstimated) {
  const RunConfig config =
      Config({"--bytes", "16,1008,4112", "--capacity", "8K", "--input", "misaligned", "--mode",
              "graph,isolated,eager", "-n", "2", "-w", "1", "--calls-per-graph", "3"});
  const SweepPlan plan = PlanSweep(collective_, config, transport_.site());
  const PlanEstimate estimate = EstimatePoints(collective_, plan, config, transport_.site());
  std::optional<JournalWriter> journal;
  RunSweep(collective_, plan, transport_, Context(config), {}, journal);
  ASSERT_EQ(transport_.regions.size(), 1u);
  EXPECT_EQ(transport_.regions[0], estimate.region_bytes);
  EXPECT_EQ(transport_.executor().taken.most, estimate.most_buffer_bytes);
}

TEST_F(Memory, OfAStressIsAtMostWhatIsEstimated) {
  const RunConfig config =
      Config({"--bytes", "2K,4K", "--stress", "300", "--calls-per-graph", "7"});
  const SweepPlan plan = PlanSweep(collective_, config, transport_.site());
  const PlanEstimate estimate = EstimateStresses(collective_, plan, config, transport_.site());
  std::optional<JournalWriter> journal;
  StressFindings findings;
  RunStresses(collective_, plan, transport_, Context(config), journal, findings);
  ASSERT_EQ(transport_.regions.size(), 1u);
  EXPECT_EQ(transport_.regions[0], estimate.region_bytes);
  EXPECT_LE(transport_.executor().taken.most, estimate.most_buffer_bytes);
  EXPECT_GT(transport_.executor().taken.most, estimate.most_buffer_bytes / 3);
}

}  // namespace
}  // namespace mailbench
