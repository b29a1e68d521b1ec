// ncclAllGather, from plain memory and from symmetric windows.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "harness/error.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/gpu/nccl_comm.h"
#include "harness/gpu/nccl_window.h"
#include "harness/memory/transport.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gather_buffers.h"
#include "src/lamport_all_gather/gpu_input.h"

namespace mailbench {
namespace {

class NcclGather : public GatherBuffers {
 public:
  explicit NcclGather(const InstanceContext& context)
      : GatherBuffers(context),
        executor_(*context.executor.gpu()),
        comm_(*context.transport.nccl()) {}

  void Bind(std::span<const Shape> shapes) override {
    staging_.reset();
    GatherBuffers::Bind(shapes);
    staging_ = GatherBuffers::TakeMemory(static_cast<std::size_t>(most_bytes()));
    // A communicator connects at its first call: not while a stream is captured.
    executor_.Time(1, [this] { Enqueue(0); });
  }

  void Enqueue(int slot) override {
    const ReadyInput from = ContiguousInput(input(slot), 1, staging_->data(), executor_.stream());
    CountInput(from.copied);
    comm_.AllGather(from.data, output(slot), static_cast<std::size_t>(bytes(slot)),
                    executor_.stream());
  }

  std::string DescribeWait() const override { return comm_.AsyncError(); }

  void Free() override {
    staging_.reset();
    GatherBuffers::Free();
  }

 protected:
  const NcclComm& comm() const { return comm_; }

 private:
  GpuExecutor& executor_;
  const NcclComm& comm_;
  std::unique_ptr<Buffer> staging_;  // for an input that is not contiguous
};

// A window as an executor's buffer.
class WindowBuffer : public Buffer {
 public:
  explicit WindowBuffer(std::unique_ptr<SymmetricWindow> window) : window_(std::move(window)) {}
  std::byte* data() const override { return window_->data(); }
  SymmetricWindow& window() const { return *window_; }

 private:
  std::unique_ptr<SymmetricWindow> window_;
};

class NcclSymmetricGather : public NcclGather {
 public:
  using NcclGather::NcclGather;

 protected:
  std::unique_ptr<Buffer> TakeMemory(std::size_t bytes) override {
    auto [window, reason] = SymmetricWindow::Create(comm(), bytes);
    if (!window) throw MachineError(reason);
    return std::make_unique<WindowBuffer>(std::move(window));
  }
  void GiveBack(std::unique_ptr<Buffer> memory) override {
    static_cast<WindowBuffer&>(*memory).window().Free();
  }
};

}  // namespace

std::unique_ptr<Instance> MakeNccl(const InstanceContext& context) {
  return std::make_unique<NcclGather>(context);
}

std::unique_ptr<Instance> MakeNcclSymmetric(const InstanceContext& context) {
  return std::make_unique<NcclSymmetricGather>(context);
}

}  // namespace mailbench
