// The mailbox gathers on a GPU.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"
#include "kernels/known_bad/gpu_mnnvl.h"
#include "kernels/known_bad/launch.h"
#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/launch.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gpu_input.h"
#include "src/lamport_all_gather/mailbox_gather.h"

namespace mailbench {
namespace {

// One launch a call, whichever the kernel.
class GpuMailboxGather : public MailboxGather {
 public:
  GpuMailboxGather(const InstanceContext& context, const MailboxTraits& traits,
                   std::size_t state_bytes)
      : MailboxGather(context, traits), executor_(*context.executor.gpu()) {
    state_ = TakeMemory(state_bytes);
    executor_.FillWords(state_->data(), 0, state_bytes / sizeof(std::uint32_t));
  }

  void Bind(std::span<const Shape> shapes) override {
    staging_.reset();
    MailboxGather::Bind(shapes);
    staging_ = TakeMemory(static_cast<std::size_t>(most_bytes()));
  }

  void Enqueue(int slot) override {
    const ReadyInput from =
        ContiguousInput(input(slot), kPackBytes, staging_->data(), executor_.stream());
    CountInput(from.copied);
    MAILBENCH_CUDA(
        Launch(reinterpret_cast<const Pack*>(from.data), output(slot), bytes(slot) / kPackBytes));
  }

  void Free() override {
    staging_.reset();
    state_.reset();
    MailboxGather::Free();
  }

 protected:
  // `packs` of every rank.
  virtual cudaError_t Launch(const Pack* input, Pack* output, std::int64_t packs) = 0;

  // Null when polls are not to look at it.
  const std::uint32_t* abort_word() const {
    return context().config.own.at("abort-check") == "on" ? executor_.abort_word() : nullptr;
  }
  cudaStream_t stream() const { return executor_.stream(); }

  // The arguments that the kernels of both protocols have.
  template <class Args, class State>
  Args ArgsFor(const Pack* input, Pack* output, std::int64_t packs) const {
    Args args;
    args.input = input;
    args.output = output;
    args.packs = packs;
    args.state = reinterpret_cast<State*>(state_->data());
    args.mailbox = mailbox();
    return args;
  }

 private:
  GpuExecutor& executor_;
  std::unique_ptr<Buffer> state_;    // what the protocol keeps between calls
  std::unique_ptr<Buffer> staging_;  // for an input that cannot be read in place
};

class GpuGather : public GpuMailboxGather {
 public:
  GpuGather(const InstanceContext& context, const GatherOptions& options)
      : GpuMailboxGather(context, {}, sizeof(GatherState)), options_(options) {
    options_.abort_word = abort_word();
  }

 protected:
  cudaError_t Launch(const Pack* input, Pack* output, std::int64_t packs) override {
    return LaunchAllGather(ArgsFor<AllGatherArgs, GatherState>(input, output, packs), options_,
                           stream());
  }

 private:
  GatherOptions options_;
};

Publish PublishOn(const Site& site) {
  return site.multicast ? Publish::kMulticast : Publish::kUnicast;
}

class GpuMnnvl : public GpuMailboxGather {
 public:
  GpuMnnvl(const InstanceContext& context, MnnvlVariant variant)
      : GpuMailboxGather(context, MnnvlTraits(variant), sizeof(MnnvlState)) {
    options_.variant = variant;
    options_.publish = PublishOn(context.transport.site());
    options_.abort_word = abort_word();
  }

 protected:
  cudaError_t Launch(const Pack* input, Pack* output, std::int64_t packs) override {
    return LaunchMnnvl(ArgsFor<MnnvlArgs, MnnvlState>(input, output, packs), options_, stream());
  }

 private:
  MnnvlOptions options_;
};

GatherOptions OptionsOf(GatherKind kind, const RunConfig& config, const Site& site) {
  GatherOptions options;
  options.kind = kind;
  options.publish = PublishOn(site);
  if (options.publish == Publish::kMulticast && config.own.at("alias-fence") == "on") {
    options.publish = Publish::kMulticastAliasFence;
  }
  if (config.own.at("arrival") == "acq_rel") options.arrival = Arrival::kAcqRel;
  if (config.own.at("trigger") == "publish") options.trigger = Trigger::kAfterPublish;
  return options;
}

}  // namespace

std::unique_ptr<Instance> MakeGpuGather(const InstanceContext& context, GatherKind kind) {
  return std::make_unique<GpuGather>(context,
                                     OptionsOf(kind, context.config, context.transport.site()));
}

std::unique_ptr<Instance> MakeGpuMnnvl(const InstanceContext& context, MnnvlVariant variant) {
  return std::make_unique<GpuMnnvl>(context, variant);
}

std::string GpuMnnvlRefusal(MnnvlVariant variant, const Shape& shape, const Site& site) {
  CoResidency gpu;
  gpu.ranks_per_gpu = site.ranks_per_gpu;
  gpu.multiprocessors = site.multiprocessors;
  MnnvlOptions options;
  options.variant = variant;
  options.publish = PublishOn(site);
  MAILBENCH_CUDA(MnnvlCtasPerSm(options, &gpu.ctas_per_multiprocessor));
  return MnnvlRefusal(PlanMnnvl(shape.bytes_per_rank / kPackBytes), gpu);
}

std::string GpuGatherRefusal(GatherKind kind, const Shape& shape, const RunConfig& config,
                             const Site& site) {
  const AllGatherPlan plan = PlanAllGather(shape.bytes_per_rank / kPackBytes, site.ranks);
  CoResidency gpu;
  gpu.ranks_per_gpu = site.ranks_per_gpu;
  gpu.multiprocessors = site.multiprocessors;
  MAILBENCH_CUDA(AllGatherCtasPerSm(OptionsOf(kind, config, site), plan.poll_batch,
                                    &gpu.ctas_per_multiprocessor));
  return CoResidencyRefusal(plan, gpu);
}

}  // namespace mailbench
