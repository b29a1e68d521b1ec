#include "harness/gpu/nccl_window.h"

#include <cstdio>
#include <exception>
#include <string>

#include "harness/error.h"
#include "harness/gpu/nccl_error.h"

namespace mailbench {
namespace {

std::string First(std::string error, const std::string& next) {
  return error.empty() ? next : error;
}

}  // namespace

NcclResult<SymmetricWindow> SymmetricWindow::Create(const NcclComm& comm, std::size_t bytes) {
  const NcclApi& api = comm.api();
  const bool complete = api.mem_alloc != nullptr && api.mem_free != nullptr &&
                        api.window_register != nullptr && api.window_deregister != nullptr;
  std::string reason = AgreeOnReason(
      comm.ranks(), complete ? ""
                             : "NCCL " + NcclVersionText(api.version) +
                                   " has no symmetric windows: 2.27 was the first with them");
  if (!reason.empty()) return {nullptr, reason};

  void* memory = nullptr;
  std::string error = MAILBENCH_NCCL_STEP(api, "ncclMemAlloc", api.mem_alloc(&memory, bytes));
  reason = AgreeOnReason(comm.ranks(), error);
  if (!reason.empty()) {
    if (error.empty()) api.mem_free(memory);
    return {nullptr, reason};
  }

  NcclWindow window = nullptr;
  error = MAILBENCH_NCCL_STEP(
      api, "ncclCommWindowRegister",
      api.window_register(comm.handle(), memory, bytes, &window, kNcclSymmetric));
  if (error.empty() && window == nullptr) {
    error = "NCCL " + NcclVersionText(api.version) +
            " registers no symmetric windows here (no peer-to-peer access, or NCCL_WIN_ENABLE=0)";
  }
  reason = AgreeOnReason(comm.ranks(), error);
  if (!reason.empty()) {
    if (window != nullptr) api.window_deregister(comm.handle(), window);
    api.mem_free(memory);
    return {nullptr, reason};
  }
  return {std::unique_ptr<SymmetricWindow>(
              new SymmetricWindow(comm, static_cast<std::byte*>(memory), bytes, window)),
          ""};
}

SymmetricWindow::SymmetricWindow(const NcclComm& comm, std::byte* memory, std::size_t bytes,
                                 NcclWindow window)
    : comm_(comm), memory_(memory), bytes_(bytes), window_(window) {}

SymmetricWindow::~SymmetricWindow() {
  if (memory_ != nullptr && std::uncaught_exceptions() == 0) {
    std::fprintf(stderr, "mailbench: rank %d leaves a window of %zu bytes to the system\n",
                 comm_.ranks().rank(), bytes_);
  }
}

void SymmetricWindow::Free() {
  std::string error;
  if (memory_ != nullptr) {
    const NcclApi& api = comm_.api();
    error = MAILBENCH_NCCL_STEP(api, "ncclCommWindowDeregister",
                                api.window_deregister(comm_.handle(), window_));
    error = First(error, MAILBENCH_NCCL_STEP(api, "ncclMemFree", api.mem_free(memory_)));
    memory_ = nullptr;
  }
  comm_.ranks().Vote(ExitCode::kFailed, error);
}

}  // namespace mailbench
