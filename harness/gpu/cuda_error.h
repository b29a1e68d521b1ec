// Turns the error codes of the CUDA runtime and driver into exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "harness/error.h"
#include "harness/gpu/driver.h"
#include "harness/watchdog/step.h"

namespace mailbench {

// A refusal of the driver, for callers that can say more about some codes than the driver does.
class DriverError : public SystemError {
 public:
  DriverError(CUresult result, const std::string& what) : SystemError(what), result_(result) {}
  CUresult result() const { return result_; }

 private:
  CUresult result_;
};

// Throw SystemError (the driver's: DriverError): the call, the code's name and text, this process's
// rank and host, file and line. `expression` is shown up to its first parenthesis.
[[noreturn]] void ThrowCudaError(cudaError_t code, const char* expression, const char* file,
                                 int line);
[[noreturn]] void ThrowDriverError(const DriverTable& driver, CUresult code, const char* expression,
                                   const char* file, int line);

// "CUDA_ERROR_OUT_OF_MEMORY: out of memory".
std::string DriverErrorText(const DriverTable& driver, CUresult code);

}  // namespace mailbench

// Runs one call of the runtime; SystemError when it fails. Example:
// MAILBENCH_CUDA(cudaSetDevice(0)).
#define MAILBENCH_CUDA(call)                                                                  \
  do {                                                                                        \
    if (const cudaError_t mailbench_cuda_code = (call); mailbench_cuda_code != cudaSuccess) { \
      ::mailbench::ThrowCudaError(mailbench_cuda_code, #call, __FILE__, __LINE__);            \
    }                                                                                         \
  } while (false)

// Runs one call of the driver through a DriverTable, as a Step; DriverError when it fails. Example:
// MAILBENCH_DRIVER(driver, MemRelease, handle).
#define MAILBENCH_DRIVER(driver, function, ...)                                                \
  do {                                                                                         \
    const ::mailbench::Step mailbench_driver_step("cu" #function);                             \
    if (const CUresult mailbench_driver_code = (driver).function(__VA_ARGS__);                 \
        mailbench_driver_code != CUDA_SUCCESS) {                                               \
      ::mailbench::ThrowDriverError((driver), mailbench_driver_code, "cu" #function, __FILE__, \
                                    __LINE__);                                                 \
    }                                                                                          \
  } while (false)
