// The CUDA driver as one table of function pointers, filled at run time: no binary links libcuda,
// so every binary starts on a machine without a driver, and a test can put another table in its
// place. Every user takes a `const DriverTable&`.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

namespace mailbench {

// Each function (without its "cu") and the CUDA version, 10.2 as 10020, whose signature is called:
// the numbers of the PFN_ types in cudaTypedefs.h.
#define MAILBENCH_DRIVER_FUNCTIONS(FUNCTION)    \
  FUNCTION(GetErrorName, 6000)                  \
  FUNCTION(GetErrorString, 6000)                \
  FUNCTION(DeviceGet, 2000)                     \
  FUNCTION(DeviceGetAttribute, 2000)            \
  FUNCTION(DeviceGetUuid, 11040)                \
  FUNCTION(CtxSynchronize, 2000)                \
  FUNCTION(MemGetAllocationGranularity, 10020)  \
  FUNCTION(MemCreate, 10020)                    \
  FUNCTION(MemRelease, 10020)                   \
  FUNCTION(MemAddressReserve, 10020)            \
  FUNCTION(MemAddressFree, 10020)               \
  FUNCTION(MemMap, 10020)                       \
  FUNCTION(MemUnmap, 10020)                     \
  FUNCTION(MemSetAccess, 10020)                 \
  FUNCTION(MemExportToShareableHandle, 10020)   \
  FUNCTION(MemImportFromShareableHandle, 10020) \
  FUNCTION(MemsetD32, 3020)                     \
  FUNCTION(MemsetD32Async, 3020)                \
  FUNCTION(MulticastGetGranularity, 12010)      \
  FUNCTION(MulticastCreate, 12010)              \
  FUNCTION(MulticastAddDevice, 12010)           \
  FUNCTION(MulticastBindMem, 12010)             \
  FUNCTION(MulticastUnbind, 12010)              \
  FUNCTION(FuncGetName, 12030)                  \
  FUNCTION(KernelGetName, 12030)                \
  FUNCTION(GraphKernelNodeGetParams, 12000)

// The driver's functions by name without "cu", since cuda.h has macros of many of the full names.
struct DriverTable {
#define MAILBENCH_DECLARE(name, version) PFN_cu##name##_v##version name = nullptr;
  MAILBENCH_DRIVER_FUNCTIONS(MAILBENCH_DECLARE)
#undef MAILBENCH_DECLARE
};

// The table of this machine's driver, found once a process through
// cudaGetDriverEntryPointByVersion. Throws MachineError when there is no driver, and when it lacks
// a function, which is named. Communicates nothing: a vote has to follow. It is AsAllowed.
const DriverTable& LoadDriver();

// Why no multicast object may be made, "" when one may: the environment of this process sets
// MAILBENCH_MULTICAST to anything but 1, or NCCL_NVLS_ENABLE to anything but 1 and 2.
std::string MulticastForbidden();
// Has the functions that create multicast objects, add devices to them and bind memory to them
// do nothing and answer CUDA_ERROR_NOT_PERMITTED.
void RefuseMulticast(DriverTable& table);
// The table, with RefuseMulticast where the environment forbids multicast objects.
DriverTable AsAllowed(DriverTable table);

}  // namespace mailbench
