#include "harness/gpu/driver.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/command_line/quote.h"
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
  // "2" is NCCL's own default: wherever it finds that it can. Of "1 # no", "0x1" or "true" nobody
  // can say what was meant.
  for (const auto& [name, allowing] :
       {std::pair{"MAILBENCH_MULTICAST", std::vector<std::string_view>{"1"}},
        std::pair{"NCCL_NVLS_ENABLE", std::vector<std::string_view>{"1", "2"}}}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || std::ranges::count(allowing, value) > 0) continue;
    return std::string(name) + '=' + Printable(value) + " forbids it";
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
