// Memory of NCCL's own that its symmetric kernels can use.
#pragma once

#include <cstddef>

#include "harness/gpu/nccl_comm.h"

namespace mailbench {

// Device memory in a symmetric window: a collective whose buffers all lie in such windows, at equal
// offsets on all ranks, may run NCCL's symmetric kernels. The names of the kernels that ran are the
// proof (kernel_names.h): where they cannot register, versions before 2.29 return a window that is
// none, and the plain kernel runs. Must not outlive its communicator.
class SymmetricWindow {
 public:
  // ncclMemAlloc and ncclCommWindowRegister with NCCL_WIN_COLL_SYMMETRIC. Collective; all ranks
  // return alike. REQUIRES: the same `bytes` on all ranks, not 0.
  static NcclResult<SymmetricWindow> Create(const NcclComm& comm, std::size_t bytes);

  // Logs when Free was not called; communicates nothing.
  ~SymmetricWindow();
  SymmetricWindow(const SymmetricWindow&) = delete;
  SymmetricWindow& operator=(const SymmetricWindow&) = delete;

  // Collective. REQUIRES: no work on the memory is under way. Throws SystemError, on all ranks
  // alike.
  void Free();

  std::byte* data() const { return memory_; }
  std::size_t bytes() const { return bytes_; }

 private:
  SymmetricWindow(const NcclComm& comm, std::byte* memory, std::size_t bytes, NcclWindow window);

  const NcclComm& comm_;
  std::byte* memory_;
  std::size_t bytes_;
  NcclWindow window_;
};

}  // namespace mailbench
