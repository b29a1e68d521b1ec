// Stands in for libnccl.so.2 in tests: the calls of NCCL without a GPU. Steered by environment
// variables, which a test sets in the process of the rank that it means:
//   FAKE_NCCL_VERSION   what ncclGetVersion tells; 23203 when unset
//   FAKE_NCCL_FAIL      the name of the call that fails with ncclInvalidUsage
//   FAKE_NCCL_WINDOW    "null": registration succeeds, but gives no window
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char bytes[128];
} Id;
typedef struct {
  int ranks;
  int rank;
} Comm;

enum { kSuccess = 0, kInvalidUsage = 5 };

// What tests look at.
int fake_nccl_comms = 0;    // made and not yet destroyed or aborted
int fake_nccl_memory = 0;   // allocations not yet freed
int fake_nccl_windows = 0;  // registered and not yet deregistered
Id fake_nccl_id;            // the one that the last ncclCommInitRank was given
int fake_nccl_async = 0;    // what ncclCommGetAsyncError tells

static char last_error[200];

static int Result(const char* call) {
  const char* fails = getenv("FAKE_NCCL_FAIL");
  if (fails == NULL || strcmp(fails, call) != 0) return kSuccess;
  snprintf(last_error, sizeof last_error, "%s was told to fail", call);
  return kInvalidUsage;
}

int ncclGetVersion(int* version) {
  const char* text = getenv("FAKE_NCCL_VERSION");
  *version = text != NULL ? atoi(text) : 23203;
  return Result("ncclGetVersion");
}

int ncclGetUniqueId(Id* id) {
  for (size_t i = 0; i < sizeof id->bytes; ++i) id->bytes[i] = (char)(i * 3);  // zeros among them
  return Result("ncclGetUniqueId");
}

int ncclCommInitRank(Comm** comm, int ranks, Id id, int rank) {
  fake_nccl_id = id;
  const int result = Result("ncclCommInitRank");
  if (result != kSuccess) return result;
  *comm = malloc(sizeof **comm);
  (*comm)->ranks = ranks;
  (*comm)->rank = rank;
  ++fake_nccl_comms;
  return kSuccess;
}

static void End(Comm* comm) {
  free(comm);
  --fake_nccl_comms;
}

int ncclCommDestroy(Comm* comm) {
  End(comm);
  return Result("ncclCommDestroy");
}

#ifndef MAILBENCH_FAKE_WITHOUT_ABORT
int ncclCommAbort(Comm* comm) {
  End(comm);
  return Result("ncclCommAbort");
}
#endif

int ncclCommGetAsyncError(Comm* comm, int* error) {
  (void)comm;
  *error = fake_nccl_async;
  return Result("ncclCommGetAsyncError");
}

const char* ncclGetErrorString(int code) {
  return code == kInvalidUsage ? "invalid usage" : "another error";
}

const char* ncclGetLastError(Comm* comm) {
  (void)comm;
  return last_error;
}

// Places this rank's share only; the type is ncclUint8.
int ncclAllGather(const void* send, void* receive, size_t count, int type, Comm* comm,
                  void* stream) {
  (void)stream;
  if (type != 1) return kInvalidUsage;
  memcpy((char*)receive + (size_t)comm->rank * count, send, count);
  return Result("ncclAllGather");
}

#ifndef MAILBENCH_FAKE_WITHOUT_WINDOWS
int ncclMemAlloc(void** memory, size_t bytes) {
  const int result = Result("ncclMemAlloc");
  if (result != kSuccess) return result;
  *memory = malloc(bytes);
  ++fake_nccl_memory;
  return kSuccess;
}

int ncclMemFree(void* memory) {
  free(memory);
  --fake_nccl_memory;
  return Result("ncclMemFree");
}

int ncclCommWindowRegister(Comm* comm, void* buffer, size_t bytes, void** window, int flags) {
  (void)comm, (void)bytes;
  const int result = Result("ncclCommWindowRegister");
  if (result != kSuccess) return result;
  if (flags != 1) return kInvalidUsage;
  const char* kind = getenv("FAKE_NCCL_WINDOW");
  if (kind != NULL && strcmp(kind, "null") == 0) return kSuccess;
  *window = buffer;
  ++fake_nccl_windows;
  return kSuccess;
}

int ncclCommWindowDeregister(Comm* comm, void* window) {
  (void)comm, (void)window;
  --fake_nccl_windows;
  return Result("ncclCommWindowDeregister");
}
#endif
