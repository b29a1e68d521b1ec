#include "harness/gpu/cuda_error.h"

#include "harness/ranks/rank_and_host.h"

namespace mailbench {
namespace {

std::string Failed(const std::string& call, const std::string& text, const char* file, int line) {
  return call.substr(0, call.find('(')) + " failed on " + RankAndHost() + ": " + text + " (" +
         file + ":" + std::to_string(line) + ")";
}

}  // namespace

std::string DriverErrorText(const DriverTable& driver, CUresult code) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.GetErrorName(code, &name) != CUDA_SUCCESS || name == nullptr) {
    return "unknown error " + std::to_string(static_cast<int>(code));
  }
  if (driver.GetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr) return name;
  return std::string(name) + ": " + text;
}

void ThrowCudaError(cudaError_t code, const char* expression, const char* file, int line) {
  throw SystemError(Failed(expression,
                           std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code),
                           file, line));
}

void ThrowDriverError(const DriverTable& driver, CUresult code, const char* expression,
                      const char* file, int line) {
  throw DriverError(code, Failed(expression, DriverErrorText(driver, code), file, line));
}

}  // namespace mailbench
