// NCCL, loaded at run time: as a link dependency it would keep every binary from starting where it
// is absent. The ABI is declared here, from nccl.h of 2.28 (unchanged in 2.32), so that no header
// of NCCL is needed to build either.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>

namespace mailbench {

// ncclResult_t.
enum class NcclCode : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
};

// The name that nccl.h gives the code: "ncclInvalidUsage".
std::string NcclCodeName(NcclCode code);

// ncclDataType_t: bytes, since the suite only moves them.
enum class NcclType : int { kUint8 = 1 };

// ncclUniqueId: NCCL_UNIQUE_ID_BYTES, passed by value.
struct NcclUniqueId {
  char bytes[128];
};

using NcclHandle = struct ncclComm*;           // ncclComm_t
using NcclWindow = struct ncclWindow_vidmem*;  // ncclWindow_t

// Flag of ncclCommWindowRegister (NCCL_WIN_COLL_SYMMETRIC): the buffers of a collective call lie at
// equal offsets in the windows of all ranks. NCCL_WIN_REQUIRED_ALIGNMENT is 4096 bytes.
inline constexpr int kNcclSymmetric = 1;

// One pointer a function. Those under "may be null" are younger than the others.
struct NcclApi {
  NcclCode (*get_version)(int* version) = nullptr;
  NcclCode (*get_unique_id)(NcclUniqueId* id) = nullptr;
  NcclCode (*comm_init_rank)(NcclHandle* comm, int ranks, NcclUniqueId id, int rank) = nullptr;
  NcclCode (*comm_destroy)(NcclHandle comm) = nullptr;
  NcclCode (*comm_abort)(NcclHandle comm) = nullptr;
  NcclCode (*comm_get_async_error)(NcclHandle comm, NcclCode* error) = nullptr;
  const char* (*get_error_string)(NcclCode code) = nullptr;
  const char* (*get_last_error)(NcclHandle comm) =
      nullptr;  // the argument is not used: may be null
  NcclCode (*all_gather)(const void* send, void* receive, std::size_t send_count, NcclType type,
                         NcclHandle comm, cudaStream_t stream) = nullptr;

  // May be null: allocation came with 2.19, windows with 2.27.
  NcclCode (*mem_alloc)(void** memory, std::size_t bytes) = nullptr;
  NcclCode (*mem_free)(void* memory) = nullptr;
  NcclCode (*window_register)(NcclHandle comm, void* buffer, std::size_t bytes, NcclWindow* window,
                              int flags) = nullptr;
  NcclCode (*window_deregister)(NcclHandle comm, NcclWindow window) = nullptr;

  int version = 0;   // NCCL_VERSION_CODE: 10000 * major + 100 * minor + patch
  std::string path;  // of the library that was loaded
};

// "2.32.3" for 23203.
std::string NcclVersionText(int version);

struct NcclLoad {
  std::optional<NcclApi> api;
  std::string reason;  // why there is no api; "" where there is one
};

// Loads the file that the environment variable MAILBENCH_NCCL names, or, where that is unset or
// empty, libnccl.so.2 from the library path. The library stays loaded until the process ends: NCCL
// has threads of its own. Throws nothing.
NcclLoad LoadNccl();

}  // namespace mailbench
