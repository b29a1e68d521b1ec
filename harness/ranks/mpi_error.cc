#include "harness/ranks/mpi_error.h"

#include <array>
#include <string>

#include "harness/error.h"
#include "harness/ranks/rank_and_host.h"

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

}  // namespace

void ThrowMpiError(int code, const char* expression, const char* file, int line) {
  const std::string call(expression);
  throw SystemError(call.substr(0, call.find('(')) + " failed on " + RankAndHost() + ": " +
                    ErrorText(code) + " (" + file + ":" + std::to_string(line) + ")");
}

}  // namespace mailbench
