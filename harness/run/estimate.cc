#include "harness/run/estimate.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/measure/l2.h"
#include "harness/measure/sweep_point.h"
#include "harness/measure/warm_up.h"
#include "harness/memory/symmetric_memory.h"
#include "harness/run/instances.h"
#include "harness/stress/round.h"
#include "harness/stress/skew.h"

namespace mailbench {
namespace {

// Seconds.
struct Rates {
  double part = 0;        // of a point: buffers, a recording
  double meeting = 0;     // of all ranks, before and after a sample
  double call = 0;        // of no bytes
  double call_byte = 0;   // a byte that the call brings to a rank
  double check = 0;       // an input filled, an output compared, of no bytes
  double check_byte = 0;  // a byte of that output
  double audit_byte = 0;  // a byte of a mailbox that is searched
  // Batches of samples that a warm-up takes until it is steady, if it has the time; not seconds.
  double warm_up_batches = 0;
};

constexpr Rates kOnGpus = {.part = 0.05,
                           .meeting = 100e-6,
                           .call = 3e-6,
                           .call_byte = 5e-12,
                           .check = 150e-6,
                           .check_byte = 2e-9,
                           .audit_byte = 0,
                           .warm_up_batches = 3};
constexpr Rates kOnHost = {.part = 1e-3,
                           .meeting = 20e-6,
                           .call = 10e-6,
                           .call_byte = 8e-9,
                           .check = 5e-6,
                           .check_byte = 2e-9,
                           .audit_byte = 1e-9,
                           .warm_up_batches = 7};

// Of MPI_Allgather on the host, which is compiled for its processor.
constexpr double kLibraryCall = 3e-6;
constexpr double kLibraryCallByte = 0.15e-9;

// Of a run: memory, algorithms, the floor.
constexpr double kSetUpOnGpus = 1;
constexpr double kSetUpOnHost = 0.05;

constexpr int kCheckRounds = 3;
constexpr int kAudits = 2;

// How often a processor has to do what one rank does.
double Turns(const Site& site, int processors) {
  return std::max(1.0, static_cast<double>(site.ranks) / processors);
}

double SetUpSeconds(const Site& site, int processors) {
  return site.on_gpu ? kSetUpOnGpus : kSetUpOnHost * Turns(site, processors);
}

Rates RatesOf(const Collective& collective, const std::string& algorithm, const RunConfig& config,
              const Site& site, int processors) {
  if (site.on_gpu) return kOnGpus;
  const double turns = Turns(site, processors);
  Rates rates = kOnHost;
  if (collective.SymmetricBytes(algorithm, config, site) == 0) {
    rates.call = kLibraryCall;
    rates.call_byte = kLibraryCallByte;
  }
  for (double Rates::*rate : {&Rates::part, &Rates::meeting, &Rates::call, &Rates::call_byte,
                              &Rates::check, &Rates::check_byte, &Rates::audit_byte}) {
    rates.*rate *= turns;
  }
  return rates;
}

double CallSeconds(const Rates& rates, double bytes) {
  return rates.call + bytes * rates.call_byte;
}
double CheckSeconds(const Rates& rates, double bytes) {
  return rates.check + bytes * rates.check_byte;
}

PlanEstimate EstimateMemory(const Collective& collective, const SweepPlan& plan,
                            const RunConfig& config, const Site& site) {
  PlanEstimate estimate;
  if (config.stress == 0) {
    const SweepMemory sweep = MemoryOfSweep(collective, site.ranks);
    estimate.region_bytes = AlignSymmetric(sweep.gate) + AlignSymmetric(sweep.floor);
  }
  for (const std::string& algorithm : plan.algorithms) {
    const std::size_t bytes = collective.SymmetricBytes(algorithm, config, site);
    estimate.algorithms.push_back({algorithm, bytes});
    estimate.region_bytes += AlignSymmetric(bytes);
  }
  return estimate;
}

// What the buffers of all algorithms take while those of one point after another replace each
// other.
class BuffersHeld {
 public:
  void Bind(const std::string& algorithm, std::size_t bytes) {
    std::size_t& own = by_algorithm_[algorithm];
    now_ = now_ - own + bytes;
    own = bytes;
    most_ = std::max(most_, now_);
  }
  std::size_t most() const { return most_; }

 private:
  std::map<std::string, std::size_t> by_algorithm_;
  std::size_t now_ = 0;
  std::size_t most_ = 0;
};

// `sample`: seconds that one takes.
double WarmUpSamples(int least, double sample, const Rates& rates) {
  if (least == 0) return 0;
  const double in_time = kMostWarmUpSeconds / (least * sample);
  return least * std::clamp(in_time, 1.0, rates.warm_up_batches);
}

PartEstimate EstimatePoint(const Collective& collective, const SweepPoint& point,
                           const RunConfig& config, const Site& site, const Rates& rates) {
  const Shape& shape = point.key.shape;
  const auto bytes = static_cast<double>(shape.bytes_total);
  const int calls = CallsPerSample(point.mode, config);
  const int slots = SlotsForEachCall(shape.bytes_total, calls);
  const int rounds = config.check ? kCheckRounds : 0;
  const double sample = rates.meeting + calls * CallSeconds(rates, bytes);
  const double samples = SamplesPerPoint(point.mode, config) + 1 + rounds +
                         WarmUpSamples(config.warmup, sample, rates);

  PartEstimate part;
  // Checks have other buffers than samples, one after the other.
  for (const int in_flight : {config.check ? slots : 0, point.l2.slots}) {
    const std::vector<Shape> shapes(static_cast<std::size_t>(in_flight), shape);
    part.buffer_bytes = std::max(part.buffer_bytes,
                                 collective.BufferBytes(point.key.algorithm, shapes, config, site));
  }
  part.calls = samples * calls;
  part.seconds = rates.part + samples * sample + rounds * slots * CheckSeconds(rates, bytes);
  if (config.check) {
    const std::size_t mailbox = collective.SymmetricBytes(point.key.algorithm, config, site);
    part.seconds += kAudits * static_cast<double>(mailbox) * rates.audit_byte;
  }
  return part;
}

// What takes at least as much as the graphs of any round that is drawn of the shapes and the calls
// beside them: largest ones until the budget is exceeded, and what all others are rounded up by.
std::vector<Shape> MostInFlight(std::span<const Shape> shapes, int calls_per_graph) {
  const auto calls = static_cast<std::size_t>(calls_per_graph);
  const Shape& largest = shapes.back();
  const auto affordable =
      static_cast<std::size_t>(kOutputBudgetBytes / static_cast<std::int64_t>(kStressGraphs) /
                                   std::max<std::int64_t>(largest.bytes_total, 1) +
                               1);
  std::vector<Shape> most(kStressGraphs * std::min(calls, affordable) + kStressSingleCalls,
                          largest);
  if (calls > affordable) most.insert(most.end(), kStressGraphs * calls, shapes.front());
  return most;
}

// As SizeDraw draws them: the less often the larger they are, by the square root.
double AverageBytes(std::span<const Shape> shapes) {
  double weights = 0;
  double bytes = 0;
  for (const Shape& shape : shapes) {
    const double weight =
        1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(shape.bytes_per_rank, 1)));
    weights += weight;
    bytes += weight * static_cast<double>(shape.bytes_total);
  }
  return bytes / weights;
}

}  // namespace

int Processors() { return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

std::vector<Shape> ShapesOf(const std::string& algorithm, const SweepPlan& plan) {
  std::vector<Shape> shapes;
  for (const SweepPoint& point : plan.points) {
    if (point.key.algorithm != algorithm) continue;
    const Shape& shape = point.key.shape;
    if (shapes.empty() || shapes.back().bytes_per_rank != shape.bytes_per_rank) {
      shapes.push_back(shape);
    }
  }
  return shapes;
}

PlanEstimate EstimatePoints(const Collective& collective, const SweepPlan& plan,
                            const RunConfig& config, const Site& site, int processors) {
  PlanEstimate estimate = EstimateMemory(collective, plan, config, site);
  estimate.set_up_seconds = SetUpSeconds(site, processors);
  BuffersHeld held;
  for (const SweepPoint& point : plan.points) {
    const Rates rates = RatesOf(collective, point.key.algorithm, config, site, processors);
    estimate.parts.push_back(EstimatePoint(collective, point, config, site, rates));
    held.Bind(point.key.algorithm, estimate.parts.back().buffer_bytes);
  }
  estimate.most_buffer_bytes = held.most();
  return estimate;
}

PlanEstimate EstimateStresses(const Collective& collective, const SweepPlan& plan,
                              const RunConfig& config, const Site& site, int processors) {
  PlanEstimate estimate = EstimateMemory(collective, plan, config, site);
  estimate.set_up_seconds = SetUpSeconds(site, processors);
  BuffersHeld held;
  for (const std::string& algorithm : plan.algorithms) {
    const std::vector<Shape> shapes = ShapesOf(algorithm, plan);
    const Rates rates = RatesOf(collective, algorithm, config, site, processors);
    const double bytes = AverageBytes(shapes);
    PartEstimate part;
    part.buffer_bytes = collective.BufferBytes(
        algorithm, MostInFlight(shapes, config.calls_per_graph), config, site);
    part.calls = config.stress;
    // Every rank computes the payloads of all.
    part.seconds =
        rates.part + part.calls * (CallSeconds(rates, bytes) + 2 * CheckSeconds(rates, bytes)) +
        part.calls / static_cast<double>(CallsOfARound(config.stress)) * MeanLateSeconds();
    estimate.parts.push_back(part);
    held.Bind(algorithm, part.buffer_bytes);
  }
  estimate.most_buffer_bytes = held.most();
  return estimate;
}

}  // namespace mailbench
