// The mailbox gathers on the host machine.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "harness/ranks/ranks.h"
#include "harness/trace/call_tracer.h"
#include "kernels/known_bad/host_mnnvl.h"
#include "kernels/lamport/host_all_gather.h"
#include "kernels/lamport/launch.h"
#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/mailbox_gather.h"

namespace mailbench {
namespace {

// Traced calls of a gather, each with times of its own.
class HostTracer : public CallTracer {
 public:
  using EnqueueTraced = std::function<void(int slot, const TraceView& trace)>;

  // `plan`: of every call.
  HostTracer(const Ranks& ranks, const AllGatherPlan& plan, int calls, EnqueueTraced enqueue)
      : clock_(ranks),
        sources_(ranks.size()),
        plan_(plan),
        enqueue_(std::move(enqueue)),
        times_(static_cast<std::size_t>(calls)) {
    for (std::vector<std::uint64_t>& times : times_) {
      times.resize(static_cast<std::size_t>(TraceView::Words(sources_, plan_.grid_threads())));
    }
  }

  void Enqueue(int slot, int call) override {
    enqueue_(slot, {times_[static_cast<std::size_t>(call)].data(), plan_.grid_threads()});
  }
  std::vector<TraceTimes> Times(int call) override {
    return ReadTrace(times_[static_cast<std::size_t>(call)].data(), sources_, plan_.ctas,
                     plan_.threads);
  }
  MarkClock& clock() override { return clock_; }

 private:
  HostMarkClock clock_;
  int sources_;
  AllGatherPlan plan_;
  EnqueueTraced enqueue_;
  std::vector<std::vector<std::uint64_t>> times_;  // by call
};

class HostGather : public MailboxGather {
 public:
  HostGather(const InstanceContext& context, GatherKind kind)
      : MailboxGather(context),
        stream_(*context.executor.host_stream()),
        gather_(mailbox(), kind) {}

  void Enqueue(int slot) override {
    CountInput(gather_.Enqueue(input(slot), output(slot), stream_));
  }

  TracerOrRefusal MakeTracer(int calls) override {
    const AllGatherPlan plan = PlanAllGather(most_bytes() / kPackBytes, ranks().size());
    std::string refusal =
        TimesRefusal(calls, TraceView::Bytes(ranks().size(), plan.grid_threads(), calls));
    if (!refusal.empty()) return {nullptr, std::move(refusal)};
    return {std::make_unique<HostTracer>(ranks(), plan, calls,
                                         [this](int slot, const TraceView& trace) {
                                           gather_.Enqueue(input(slot), output(slot), stream_,
                                                           trace);
                                         }),
            ""};
  }

 private:
  HostStream& stream_;
  HostAllGather gather_;
};

class HostMnnvlGather : public MailboxGather {
 public:
  HostMnnvlGather(const InstanceContext& context, MnnvlVariant variant)
      : MailboxGather(context, MnnvlTraits(variant)),
        stream_(*context.executor.host_stream()),
        gather_(mailbox(), variant) {}

  void Enqueue(int slot) override {
    CountInput(gather_.Enqueue(input(slot), output(slot), stream_));
  }

 private:
  HostStream& stream_;
  HostMnnvl gather_;
};

}  // namespace

std::unique_ptr<Instance> MakeHostMnnvl(const InstanceContext& context, MnnvlVariant variant) {
  return std::make_unique<HostMnnvlGather>(context, variant);
}

std::unique_ptr<Instance> MakeHostGather(const InstanceContext& context, GatherKind kind) {
  return std::make_unique<HostGather>(context, kind);
}

}  // namespace mailbench
