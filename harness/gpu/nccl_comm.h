// A communicator of NCCL over the ranks of the run.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

#include "harness/gpu/nccl_api.h"
#include "harness/ranks/ranks.h"

namespace mailbench {

// What was made, or why it could not be: exactly one of the two. The same on every rank.
template <typename Made>
struct NcclResult {
  std::unique_ptr<Made> made;
  std::string reason;
};

// Owns one ncclComm_t. Move-free. Must not outlive the Ranks that it was made over.
class NcclComm {
 public:
  // Loads NCCL and makes a communicator on this process's current device. Collective; all ranks
  // return alike. Refused before NCCL starts: another version on another rank; with several ranks
  // on one GPU, a version before 2.30.3 (it answers "Duplicate GPU detected") or
  // NCCL_MULTI_RANK_GPU_ENABLE other than 1.
  // Where MAILBENCH_MULTICAST=0, sets NCCL_NVLS_ENABLE=0: then NCCL makes no multicast object
  // either. Where ranks share a GPU, sets NCCL_MAX_CTAS unless it is set, so that their kernels fit
  // on it together. `ranks_on_a_gpu`: the most that share one, the same on all ranks. Blocks for
  // ever when a rank dies meanwhile: the watchdog ends the run.
  static NcclResult<NcclComm> Create(const Ranks& ranks, int ranks_on_a_gpu);

  // Logs when Free was not called; communicates nothing.
  ~NcclComm();
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;

  // ncclCommDestroy. Collective. REQUIRES: all windows on it are freed, all streams are idle.
  // Throws SystemError, on all ranks alike.
  void Free();

  // Enqueues the gather of `bytes` a rank: receive[size()][bytes], by rank. Throws SystemError, on
  // this rank alone.
  void AllGather(const void* send, void* receive, std::size_t bytes, cudaStream_t stream) const;

  // What ncclCommGetAsyncError tells, in words; "" when nothing. It covers the communicator and its
  // proxy; a hang of a symmetric kernel it does not see.
  std::string AsyncError() const;

  const NcclApi& api() const { return api_; }
  const Ranks& ranks() const { return ranks_; }
  NcclHandle handle() const { return handle_; }

 private:
  NcclComm(const Ranks& ranks, NcclApi api, NcclHandle handle);

  const Ranks& ranks_;
  NcclApi api_;
  NcclHandle handle_;
};

}  // namespace mailbench
