// One finished point, as the table prints it and the report stores it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/collective/shape.h"
#include "harness/floor/floor.h"
#include "harness/launch/executor.h"
#include "harness/measure/statistics.h"
#include "harness/measure/warm_up.h"
#include "harness/trace/trace_summary.h"
#include "harness/validate/check_result.h"

namespace mailbench {

// The tuple that names a point. Two points of one report never share it.
struct PointKey {
  std::string collective;
  std::string algorithm;
  std::string transport;
  std::string mode;
  Shape shape;
  int ranks = 0;
  // What a call finds in L2: "hot", "cold" or another state of harness/measure/l2.h.
  std::string l2 = "not controlled";
};

// "lamport_all_gather/lamport/unicast/graph/l2=hot/bytes=1024/ranks=4": for messages and for
// --resume.
std::string ToString(const PointKey& key);

// One rank's own samples, before the maximum over ranks is taken; microseconds a call.
struct RankLatency {
  double min = 0;
  double p50 = 0;
  double max = 0;
  // Samples in which no rank took longer, each from its own start to its own end; of equals the
  // lowest counts. Waiting is part of it: this says whose time the sample is, not who is slow.
  std::int64_t longest = 0;
  // Of its GPU's multiprocessors, right before the samples and right after; nothing where it cannot
  // be told.
  std::optional<int> clock_before_mhz = {};
  std::optional<int> clock_after_mhz = {};
};

struct PointRecord {
  PointKey key;
  // Microseconds a call. Each sample is the maximum over ranks.
  Summary latency_us;
  std::vector<double> samples_us;
  MedianInterval p50_interval_us;  // of latency_us.p50
  // The smallest step of the clock of the samples, by the calls of a sample, where it is known: the
  // largest of all ranks.
  std::optional<double> clock_step_us;
  std::vector<RankLatency> per_rank;  // by rank
  int calls_per_sample = 1;
  std::string l2_evicted;  // of what a call touches, before each sample; "" for nothing
  WarmUp warmup;
  double algbw_gb_per_s = 0;  // bytes_total / p50, 1e9 bytes a second, as nccl-tests counts
  double busbw_gb_per_s = 0;
  std::optional<Floor> floor;  // of the fabric, measured in the same run
  // Of it, what a call of the point's mode is compared with; nothing where a call is not one round
  // of one kernel.
  std::optional<double> floor_call_us;
  bool checked = false;
  std::string check_reference;  // "nccl" or "mpi"
  CheckResult check;            // over all ranks
  // Inputs that were copied before the call because the kernel could not read them in place, a
  // call of one rank.
  double input_copies_per_call = 0;
  std::vector<KernelCount> kernels;  // of a sample's calls; empty where they run on the host
  std::optional<TraceSummary> trace;
  std::string untraced = "there is no trace of it";  // why, where there is none
};

}  // namespace mailbench
