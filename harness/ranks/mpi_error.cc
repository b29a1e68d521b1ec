#include "harness/ranks/mpi_error.h"

#include <array>
#include <string>

#include "harness/error.h"

namespace mailbench {
namespace {

std::string ErrorText(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return "unknown error " + std::to_string(code);
  }
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string Origin() {
  int rank = 0;
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  if (MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
      MPI_Get_processor_name(host.data(), &length) != MPI_SUCCESS) {
    return "an unknown rank";
  }
  return "rank " + std::to_string(rank) + " on " +
         std::string(host.data(), static_cast<std::size_t>(length));
}

}  // namespace

void ThrowMpiError(int code, const char* expression, const char* file, int line) {
  const std::string call(expression);
  throw SystemError(call.substr(0, call.find('(')) + " failed on " + Origin() + ": " +
                    ErrorText(code) + " (" + file + ":" + std::to_string(line) + ")");
}

}  // namespace mailbench
