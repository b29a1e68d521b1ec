// What a plan will take of memory and time. Neither uses a GPU nor takes memory: the sizes are
// those that a run takes, by arithmetic; the times are guesses.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "harness/collective/collective.h"
#include "harness/collective/site.h"
#include "harness/command_line/run_config.h"
#include "harness/run/points.h"

namespace mailbench {

// A point, or the stress of an algorithm.
struct PartEstimate {
  std::size_t buffer_bytes = 0;  // of a rank: inputs and outputs of its calls in flight
  double calls = 0;              // those that are checked and the warm-up included
  double seconds = 0;
};

struct AlgorithmMemory {
  std::string algorithm;
  std::size_t symmetric_bytes = 0;  // of each rank's share
};

struct PlanEstimate {
  std::vector<AlgorithmMemory> algorithms;  // in the plan's order
  std::size_t region_bytes = 0;             // of each rank's share: all algorithms' in one region
  // Of a rank, at any time: an algorithm keeps the buffers of a point until its next one.
  std::size_t most_buffer_bytes = 0;
  double set_up_seconds = 0;
  std::vector<PartEstimate> parts;  // in the order in which they run
};

// Online processors of this host.
int Processors();

// Of the points of the plan. A point takes
//   its set-up + samples x (a meeting of all ranks + calls x time a call)
//              + calls in flight x 3 rounds of checks x time a check, where results are checked,
//              + twice the time to search the mailbox, likewise,
// with times a call and a check that grow with the bytes that it brings to a rank, and with the
// samples that a warm-up takes on average. On GPUs they are those seen with ranks on one and on two
// H200 (results/measured/), whatever the algorithm; on the host those seen on two cores of a server
// and on a laptop, which is twice as fast, of MPI_Allgather for an algorithm without symmetric
// memory, of a mailbox's gather otherwise, multiplied by ranks / `processors` where there are more
// ranks. Right to a factor of a few where nothing else runs.
PlanEstimate EstimatePoints(const Collective& collective, const SweepPlan& plan,
                            const RunConfig& config, const Site& site,
                            int processors = Processors());

// Of the stresses of its algorithms, with the average of the sizes that are drawn; their buffers
// are the most that any graph can have.
PlanEstimate EstimateStresses(const Collective& collective, const SweepPlan& plan,
                              const RunConfig& config, const Site& site,
                              int processors = Processors());

// The sizes that an algorithm has points of, each once, ascending as in the plan.
std::vector<Shape> ShapesOf(const std::string& algorithm, const SweepPlan& plan);

}  // namespace mailbench
