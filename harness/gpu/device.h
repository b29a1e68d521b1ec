// The GPU of this rank, and what all ranks know about each other's.
#pragma once

#include <vector>

#include "harness/gpu/driver.h"
#include "harness/gpu/gpu_facts.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// What ChooseDevice found. A value: nothing to free.
class Device {
 public:
  // `facts_by_rank` of every rank, `rank` being this one.
  Device(std::vector<GpuFacts> facts_by_rank, int rank);

  const GpuFacts& facts() const { return facts_by_rank_[static_cast<std::size_t>(rank_)]; }
  const std::vector<GpuFacts>& facts_by_rank() const { return facts_by_rank_; }
  int index() const { return facts().index; }
  int most_ranks_on_a_gpu() const;
  int fewest_multiprocessors() const;  // over the GPUs of all ranks
  int least_l2_bytes() const;          // likewise

 private:
  std::vector<GpuFacts> facts_by_rank_;
  int rank_;
};

// Collective. Picks this rank's GPU (see DeviceIndex), makes it the current device and gathers
// everyone's facts. Throws MachineError, the same on all ranks: no driver or no GPU; no virtual
// memory management; no export as file descriptors or, with ranks on several hosts, as FABRIC
// handles; more than `ranks_per_gpu` ranks on one GPU; two GPUs of a host without peer access to
// each other, where a rank sees both. (Where CUDA_VISIBLE_DEVICES shows each rank one GPU, only the
// mapping of a peer's memory can tell.) REQUIRES: ranks_per_gpu positive.
Device ChooseDevice(const DriverTable& driver, const Ranks& ranks, int ranks_per_gpu);

}  // namespace mailbench
