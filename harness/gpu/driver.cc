#include "harness/gpu/driver.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "harness/error.h"
#include "harness/gpu/gpu_facts_text.h"

namespace mailbench {
namespace {

template <typename Function>
void Find(const char* symbol, int version, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      symbol, &found, static_cast<unsigned>(version), cudaEnableDefault, &result);
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr) {
    throw MachineError("the CUDA driver (libcuda.so.1) has no " + std::string(symbol) +
                       " of CUDA " + CudaVersionText(version) +
                       (error == cudaSuccess ? "" : std::string(": ") + cudaGetErrorString(error)));
  }
  function = reinterpret_cast<Function>(found);
}

DriverTable FindAll() {
  int driver = 0;
  const cudaError_t error = cudaDriverGetVersion(&driver);
  if (error != cudaSuccess) {
    throw MachineError(std::string("cannot ask for the version of the CUDA driver: ") +
                       cudaGetErrorString(error));
  }
  // So the runtime says that it could not load libcuda.
  if (driver == 0) throw MachineError("no CUDA driver (libcuda.so.1) on this machine");
  DriverTable table;
#define MAILBENCH_FIND(name, version) Find("cu" #name, version, table.name);
  MAILBENCH_DRIVER_FUNCTIONS(MAILBENCH_FIND)
#undef MAILBENCH_FIND
  return table;
}

}  // namespace

std::string MulticastForbidden() {
  const char* const ours = std::getenv("MAILBENCH_MULTICAST");
  if (ours != nullptr && std::string_view(ours) != "1") {
    return "MAILBENCH_MULTICAST=" + std::string(ours) + " forbids it";
  }
  const char* const nccl = std::getenv("NCCL_NVLS_ENABLE");
  if (nccl != nullptr && std::strtoll(nccl, nullptr, 0) == 0) {
    return "NCCL_NVLS_ENABLE=" + std::string(nccl) + " forbids it";
  }
  return "";
}

void RefuseMulticast(DriverTable& table) {
  using Handle = CUmemGenericAllocationHandle;
  using Flags = unsigned long long;  // NOLINT(google-runtime-int): the driver's own type
  table.MulticastCreate = [](Handle*, const CUmulticastObjectProp*) -> CUresult {
    return CUDA_ERROR_NOT_PERMITTED;
  };
  table.MulticastAddDevice = [](Handle, CUdevice) -> CUresult { return CUDA_ERROR_NOT_PERMITTED; };
  table.MulticastBindMem = [](Handle, std::size_t, Handle, std::size_t, std::size_t,
                              Flags) -> CUresult { return CUDA_ERROR_NOT_PERMITTED; };
}

DriverTable AsAllowed(DriverTable table) {
  if (!MulticastForbidden().empty()) RefuseMulticast(table);
  return table;
}

const DriverTable& LoadDriver() {
  static const DriverTable table = AsAllowed(FindAll());
  return table;
}

}  // namespace mailbench
