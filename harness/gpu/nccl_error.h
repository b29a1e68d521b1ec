// Errors of NCCL in words.
#pragma once

#include <string>

#include "harness/gpu/nccl_api.h"
#include "harness/ranks/ranks.h"
#include "harness/watchdog/step.h"

namespace mailbench {

// "ncclAllGather failed on rank 2 on node7: ncclInvalidUsage, invalid usage: <NCCL's last error>
// (FILE:LINE)". The last error is left out where NCCL has none.
std::string NcclErrorText(const NcclApi& api, NcclCode code, const char* call, const char* file,
                          int line);

// A vote on a step of set-up whose failure is a reason to do without NCCL, not an error: "" where
// no rank has an `error`, else the reason. Collective; the same on every rank.
std::string AgreeOnReason(const Ranks& ranks, const std::string& error);

}  // namespace mailbench

// The words for one call's failure; "" when it succeeds. Example: MAILBENCH_NCCL_ERROR(api,
// "ncclCommDestroy", api.comm_destroy(handle)).
#define MAILBENCH_NCCL_ERROR(api, name, call)                                                \
  [&]() -> std::string {                                                                     \
    const ::mailbench::NcclCode mailbench_nccl_code = (call);                                \
    if (mailbench_nccl_code == ::mailbench::NcclCode::kSuccess) return {};                   \
    return ::mailbench::NcclErrorText((api), mailbench_nccl_code, name, __FILE__, __LINE__); \
  }()

// The same, as a Step: for calls that may block, and not for those that are measured.
#define MAILBENCH_NCCL_STEP(api, name, call)           \
  [&]() -> std::string {                               \
    const ::mailbench::Step mailbench_nccl_step(name); \
    return MAILBENCH_NCCL_ERROR(api, name, call);      \
  }()
