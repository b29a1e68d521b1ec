// Turns the error codes of MPI into exceptions. For communicators and windows whose error handler
// is MPI_ERRORS_RETURN.
#pragma once

#include <mpi.h>

namespace mailbench {

// Throws SystemError: the call's name, MPI's own text, file and line, this process's rank and host.
[[noreturn]] void ThrowMpiError(int code, const char* expression, const char* file, int line);

}  // namespace mailbench

// Runs one call of MPI; SystemError when it fails. Example: MAILBENCH_MPI(MPI_Barrier(comm)).
#define MAILBENCH_MPI(call)                                                         \
  do {                                                                              \
    if (const int mailbench_mpi_code = (call); mailbench_mpi_code != MPI_SUCCESS) { \
      ::mailbench::ThrowMpiError(mailbench_mpi_code, #call, __FILE__, __LINE__);    \
    }                                                                               \
  } while (false)
