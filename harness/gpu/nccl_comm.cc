#include "harness/gpu/nccl_comm.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/error.h"
#include "harness/gpu/driver.h"
#include "harness/gpu/nccl_error.h"
#include "harness/watchdog/step.h"

namespace mailbench {
namespace {

constexpr int kFirstWithSharedGpus = 23003;

bool VariableIs(const char* name, std::string_view value) {
  const char* found = std::getenv(name);
  return found != nullptr && found == value;
}

// NCCL makes multicast objects by itself wherever it finds that it can. What forbids them to one
// rank forbids them to all.
void KeepFromMulticast(const Ranks& ranks) {
  const std::vector<std::string> forbidden = ranks.Gather(MulticastForbidden());
  if (std::any_of(forbidden.begin(), forbidden.end(),
                  [](const std::string& reason) { return !reason.empty(); })) {
    setenv("NCCL_NVLS_ENABLE", "0", 1);
  }
}

// Ranks that share a GPU deadlock when the CTAs of all their kernels do not fit on it together.
// Measured with 2.32.3 on one H200: the ring ran with 32 CTAs of all ranks and hung with 64, from
// 160 KB a rank with 4 ranks.
constexpr int kMostSharedCtas = 32;

void KeepCoResident(int ranks_on_a_gpu) {
  const int ctas = std::max(1, kMostSharedCtas / ranks_on_a_gpu);
  setenv("NCCL_MAX_CTAS", std::to_string(ctas).c_str(), 0);
}

std::string SharedGpuReason(int version) {
  std::string reason;
  if (version < kFirstWithSharedGpus) {
    reason = "this is NCCL " + NcclVersionText(version);
  } else if (!VariableIs("NCCL_MULTI_RANK_GPU_ENABLE", "1")) {
    reason = "it is not set to 1";
  } else {
    return "";
  }
  return "several ranks on one GPU need NCCL " + NcclVersionText(kFirstWithSharedGpus) +
         " or later and NCCL_MULTI_RANK_GPU_ENABLE=1 (scripts/launch/mps sets it): " + reason;
}

// REQUIRES: every rank has loaded NCCL. The texts are the same on all ranks.
std::string VersionReason(const Ranks& ranks, const NcclApi& api) {
  const std::vector<std::string> versions = ranks.Gather(NcclVersionText(api.version));
  const auto other = std::find_if(versions.begin(), versions.end(), [&](const std::string& each) {
    return each != versions.front();
  });
  if (other == versions.end()) return "";
  return "rank 0 has NCCL " + versions.front() + ", but rank " +
         std::to_string(other - versions.begin()) + " has NCCL " + *other;
}

struct SharedId {
  NcclUniqueId id{};
  std::string reason;
};

// Rank 0's unique id, on every rank.
SharedId ShareUniqueId(const Ranks& ranks, const NcclApi& api) {
  SharedId shared;
  std::string error;
  if (ranks.rank() == 0) {
    error = MAILBENCH_NCCL_STEP(api, "ncclGetUniqueId", api.get_unique_id(&shared.id));
  }
  shared.reason = AgreeOnReason(ranks, error);
  if (!shared.reason.empty()) return shared;
  const std::string own =
      ranks.rank() == 0 ? std::string(shared.id.bytes, sizeof shared.id.bytes) : "";
  const std::string id = ranks.Gather(own).front();
  std::memcpy(shared.id.bytes, id.data(), sizeof shared.id.bytes);
  return shared;
}

}  // namespace

NcclResult<NcclComm> NcclComm::Create(const Ranks& ranks, int ranks_on_a_gpu) {
  const bool shared_gpu = ranks_on_a_gpu > 1;
  KeepFromMulticast(ranks);
  if (shared_gpu) KeepCoResident(ranks_on_a_gpu);
  NcclLoad load = LoadNccl();
  std::string reason = AgreeOnReason(ranks, load.reason);
  if (!reason.empty()) return {nullptr, reason};
  NcclApi& api = *load.api;

  reason = VersionReason(ranks, api);
  if (!reason.empty()) return {nullptr, reason};
  reason = AgreeOnReason(ranks, shared_gpu ? SharedGpuReason(api.version) : "");
  if (!reason.empty()) return {nullptr, reason};

  const SharedId shared = ShareUniqueId(ranks, api);
  if (!shared.reason.empty()) return {nullptr, shared.reason};

  NcclHandle handle = nullptr;
  const std::string error = MAILBENCH_NCCL_STEP(
      api, "ncclCommInitRank", api.comm_init_rank(&handle, ranks.size(), shared.id, ranks.rank()));
  reason = AgreeOnReason(ranks, error);
  if (!reason.empty()) {
    // Abort, since a destroy may wait for the rank that has no communicator.
    const Step step("ncclCommAbort");
    if (error.empty()) api.comm_abort(handle);
    return {nullptr, reason};
  }
  return {std::unique_ptr<NcclComm>(new NcclComm(ranks, std::move(api), handle)), ""};
}

NcclComm::NcclComm(const Ranks& ranks, NcclApi api, NcclHandle handle)
    : ranks_(ranks), api_(std::move(api)), handle_(handle) {}

NcclComm::~NcclComm() {
  if (handle_ != nullptr && std::uncaught_exceptions() == 0) {
    std::fprintf(stderr, "mailbench: rank %d leaves an NCCL communicator to the system\n",
                 ranks_.rank());
  }
}

void NcclComm::Free() {
  std::string error;
  if (handle_ != nullptr) {
    error = MAILBENCH_NCCL_STEP(api_, "ncclCommDestroy", api_.comm_destroy(handle_));
    handle_ = nullptr;
  }
  ranks_.Vote(ExitCode::kFailed, error);
}

void NcclComm::AllGather(const void* send, void* receive, std::size_t bytes,
                         cudaStream_t stream) const {
  const std::string error = MAILBENCH_NCCL_ERROR(
      api_, "ncclAllGather",
      api_.all_gather(send, receive, bytes, NcclType::kUint8, handle_, stream));
  if (!error.empty()) throw SystemError(error);
}

std::string NcclComm::AsyncError() const {
  NcclCode state = NcclCode::kSuccess;
  const std::string error = MAILBENCH_NCCL_ERROR(api_, "ncclCommGetAsyncError",
                                                 api_.comm_get_async_error(handle_, &state));
  if (!error.empty()) return error;
  if (state == NcclCode::kInProgress) return "";
  return MAILBENCH_NCCL_ERROR(api_, "an earlier call of NCCL", state);
}

}  // namespace mailbench
