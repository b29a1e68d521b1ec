// The mailbox gathers on a GPU.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/memory/transport.h"
#include "harness/ranks/ranks.h"
#include "harness/trace/call_tracer.h"
#include "harness/trace/gpu_mark_clock.h"
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
    const ReadyInput from = Ready(slot);
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
  // The slot's input for a kernel; a copy, if it takes one, is enqueued.
  ReadyInput Ready(int slot) const {
    return ContiguousInput(input(slot), kPackBytes, staging_->data(), executor_.stream());
  }
  GpuExecutor& executor() const { return executor_; }

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

// Traced calls of a gather, each with times of its own on the device.
class GpuTracer : public CallTracer {
 public:
  using EnqueueTraced = std::function<void(int slot, const TraceView& trace)>;

  // `plan`: of every call; `times`: TraceView::Bytes, zeroed.
  GpuTracer(GpuExecutor& executor, int sources, const AllGatherPlan& plan,
            std::unique_ptr<Buffer> times, EnqueueTraced enqueue)
      : executor_(executor),
        clock_(executor),
        sources_(sources),
        plan_(plan),
        words_(static_cast<std::size_t>(TraceView::Words(sources, plan.grid_threads()))),
        enqueue_(std::move(enqueue)),
        times_(std::move(times)) {}

  void Enqueue(int slot, int call) override {
    enqueue_(slot, {reinterpret_cast<std::uint64_t*>(Of(call)), plan_.grid_threads()});
  }
  std::vector<TraceTimes> Times(int call) override {
    std::vector<std::uint64_t> times(words_);
    executor_.CopyOut(std::as_writable_bytes(std::span(times)), Of(call));
    return ReadTrace(times.data(), sources_, plan_.ctas, plan_.threads);
  }
  MarkClock& clock() override { return clock_; }

 private:
  std::byte* Of(int call) const {
    return times_->data() + static_cast<std::size_t>(call) * words_ * sizeof(std::uint64_t);
  }

  GpuExecutor& executor_;
  GpuMarkClock clock_;
  int sources_;
  AllGatherPlan plan_;
  std::size_t words_;  // of a call's times
  EnqueueTraced enqueue_;
  std::unique_ptr<Buffer> times_;  // by call
};

// How many CTAs of a kernel one multiprocessor holds.
using CtasPerSm = cudaError_t (*)(const GatherOptions& options, int poll_batch, int* ctas);

CoResidency OnGpu(const RunConfig& config, const Site& site) {
  CoResidency gpu;
  gpu.ranks_per_gpu = site.ranks_per_gpu;
  gpu.multiprocessors = site.multiprocessors;
  gpu.beside_others = config.stress > 0;
  return gpu;
}

std::string Refusal(CtasPerSm ctas_per_sm, const GatherOptions& options, const AllGatherPlan& plan,
                    const RunConfig& config, const Site& site) {
  CoResidency gpu = OnGpu(config, site);
  MAILBENCH_CUDA(ctas_per_sm(options, plan.poll_batch, &gpu.ctas_per_multiprocessor));
  return CoResidencyRefusal(plan, gpu);
}

class GpuGather : public GpuMailboxGather {
 public:
  GpuGather(const InstanceContext& context, const GatherOptions& options)
      : GpuMailboxGather(context, {}, sizeof(GatherState)), options_(options) {
    options_.abort_word = abort_word();
  }

  TracerOrRefusal MakeTracer(int calls) override {
    const int sources = ranks().size();
    const AllGatherPlan plan = PlanAllGather(most_bytes() / kPackBytes, sources);
    // Fewer fit than of the timed kernel, which takes fewer registers.
    const std::vector<std::string> refusals = ranks().Gather(Refusal(
        TracedAllGatherCtasPerSm, options_, plan, context().config, context().transport.site()));
    for (const std::string& refusal : refusals) {
      if (!refusal.empty()) return {nullptr, "by the kernels that mark times, " + refusal};
    }
    const std::int64_t bytes = TraceView::Bytes(sources, plan.grid_threads(), calls);
    std::string refusal = TimesRefusal(calls, bytes);
    if (!refusal.empty()) return {nullptr, std::move(refusal)};
    std::unique_ptr<Buffer> times = TakeMemory(static_cast<std::size_t>(bytes));
    executor().FillWords(times->data(), 0, static_cast<std::size_t>(bytes) / sizeof(std::uint32_t));
    return {std::make_unique<GpuTracer>(executor(), sources, plan, std::move(times),
                                        [this](int slot, const TraceView& trace) {
                                          const ReadyInput from = Ready(slot);
                                          MAILBENCH_CUDA(LaunchTracedAllGather(
                                              Args(from, slot), trace, options_, stream()));
                                        }),
            ""};
  }

 protected:
  cudaError_t Launch(const Pack* input, Pack* output, std::int64_t packs) override {
    return LaunchAllGather(ArgsFor<AllGatherArgs, GatherState>(input, output, packs), options_,
                           stream());
  }

 private:
  AllGatherArgs Args(const ReadyInput& from, int slot) const {
    return ArgsFor<AllGatherArgs, GatherState>(reinterpret_cast<const Pack*>(from.data),
                                               output(slot), bytes(slot) / kPackBytes);
  }

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

std::string GpuMnnvlRefusal(MnnvlVariant variant, const Shape& shape, const RunConfig& config,
                            const Site& site) {
  CoResidency gpu = OnGpu(config, site);
  MnnvlOptions options;
  options.variant = variant;
  options.publish = PublishOn(site);
  MAILBENCH_CUDA(MnnvlCtasPerSm(options, &gpu.ctas_per_multiprocessor));
  return MnnvlRefusal(PlanMnnvl(shape.bytes_per_rank / kPackBytes), gpu);
}

std::string GpuGatherRefusal(GatherKind kind, const Shape& shape, const RunConfig& config,
                             const Site& site) {
  const AllGatherPlan plan = PlanAllGather(shape.bytes_per_rank / kPackBytes, site.ranks);
  return Refusal(AllGatherCtasPerSm, OptionsOf(kind, config, site), plan, config, site);
}

}  // namespace mailbench
