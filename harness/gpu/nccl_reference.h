// NCCL as what results are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "harness/gpu/gpu_executor.h"
#include "harness/gpu/nccl_comm.h"
#include "harness/validate/reference.h"

namespace mailbench {

// The communicator and the executor outlive it.
class NcclReference : public Reference {
 public:
  NcclReference(const NcclComm& comm, GpuExecutor& executor) : comm_(comm), executor_(executor) {}

  std::string_view name() const override { return "nccl"; }
  // Through memory of the device that it keeps. The first gather of each size is itself compared
  // with MPI's: throws Error(kWrong) on every rank alike when they differ, and MachineError so when
  // memory for it is short on some rank.
  void AllGather(std::span<const std::uint32_t> own, std::span<std::uint32_t> all) override;

 private:
  void RequireMpiAgrees(std::span<const std::uint32_t> own, std::span<const std::uint32_t> all);

  const NcclComm& comm_;
  GpuExecutor& executor_;
  std::unique_ptr<Buffer> send_;
  std::unique_ptr<Buffer> receive_;
  std::size_t words_ = 0;  // that the buffers hold, a rank
};

}  // namespace mailbench
