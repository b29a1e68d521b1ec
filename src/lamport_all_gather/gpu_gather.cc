// The mailbox gathers on a GPU.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/ranks/ranks.h"
#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gpu_input.h"
#include "src/lamport_all_gather/mailbox_gather.h"

namespace mailbench {
namespace {

class GpuGather : public MailboxGather {
 public:
  GpuGather(const InstanceContext& context, const GatherOptions& options)
      : MailboxGather(context), executor_(*context.executor.gpu()), options_(options) {
    if (context.config.own.at("abort-check") == "on") options_.abort_word = executor_.abort_word();
    state_ = TakeMemory(sizeof(GatherState));
    executor_.FillWords(state_->data(), 0, sizeof(GatherState) / sizeof(std::uint32_t));
  }

  void Bind(const Shape& shape, int slots) override {
    staging_.reset();
    MailboxGather::Bind(shape, slots);
    staging_ = TakeMemory(static_cast<std::size_t>(bytes()));
  }

  void Enqueue(int slot) override {
    AllGatherArgs args;
    const ReadyInput from =
        ContiguousInput(input(slot), kPackBytes, staging_->data(), executor_.stream());
    CountInput(from.copied);
    args.input = reinterpret_cast<const Pack*>(from.data);
    args.output = output(slot);
    args.packs = bytes() / kPackBytes;
    args.state = reinterpret_cast<GatherState*>(state_->data());
    args.mailbox = mailbox();
    MAILBENCH_CUDA(LaunchAllGather(args, options_, executor_.stream()));
  }

  void Free() override {
    staging_.reset();
    state_.reset();
    MailboxGather::Free();
  }

 private:
  GpuExecutor& executor_;
  GatherOptions options_;
  std::unique_ptr<Buffer> state_;    // a GatherState
  std::unique_ptr<Buffer> staging_;  // for an input that cannot be read in place
};

GatherOptions OptionsOf(GatherKind kind, const RunConfig& config) {
  GatherOptions options;
  options.kind = kind;
  if (config.own.at("arrival") == "acq_rel") options.arrival = Arrival::kAcqRel;
  if (config.own.at("trigger") == "publish") options.trigger = Trigger::kAfterPublish;
  return options;
}

}  // namespace

std::unique_ptr<Instance> MakeGpuGather(const InstanceContext& context, GatherKind kind) {
  return std::make_unique<GpuGather>(context, OptionsOf(kind, context.config));
}

std::string GpuGatherRefusal(GatherKind kind, const Shape& shape, const RunConfig& config,
                             const Site& site) {
  const AllGatherPlan plan = PlanAllGather(shape.bytes_per_rank / kPackBytes, site.ranks);
  CoResidency gpu;
  gpu.ranks_per_gpu = site.ranks_per_gpu;
  gpu.multiprocessors = site.multiprocessors;
  MAILBENCH_CUDA(
      AllGatherCtasPerSm(OptionsOf(kind, config), plan.poll_batch, &gpu.ctas_per_multiprocessor));
  return CoResidencyRefusal(plan, gpu);
}

}  // namespace mailbench
