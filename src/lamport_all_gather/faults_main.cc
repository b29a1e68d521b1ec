// lamport_all_gather with a fault of one rank, for the tests of what a run does then.
//
// usage: lamport_all_gather_faults RANK WHERE ACTION [FLAG]...
//   WHERE   transport (while it is chosen), set-up (while memory is made), first-call, mid-sweep,
//           launch (as mid-sweep, but with the peers already in the call), mid-stress (the peers go
//           on until they need that rank), teardown or report
//   ACTION  kill (SIGKILL), stop (SIGSTOP), never (sleeps for ever), late (sleeps for 3 s)
// or lamport_all_gather_faults RANK CALL plant (of a stress: a bit of a word of that rank's output
// of
//   that call is flipped before it is verified)
// or lamport_all_gather_faults RANK - ACTION
//   ACTION  flip (algorithm mpi flips one bit of that rank's output), leave (a word stays in that
//           rank's mailbox), slow (that rank begins each call 5 us late, on the host 20 ms),
//           endless (that rank's device never returns from what it does before a call)
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/launch/executor.h"
#include "harness/ranks/launcher.h"
#include "harness/ranks/mpi_error.h"
#include "harness/ranks/ranks.h"
#include "harness/run/run.h"
#include "harness/stress/call_verifier.h"
#include "harness/trace/call_tracer.h"
#include "kernels/machine/host/stream.h"
#include "kernels/stress/call_log.h"
#include "src/lamport_all_gather/gather_buffers.h"
#include "src/lamport_all_gather/lamport_all_gather.h"

namespace mailbench {
namespace {

struct Fault {
  int rank;
  std::string where;
  std::string action;
};

// More than the sixteenth of a stress of 20000 calls, after which its findings are on record.
constexpr std::uint64_t kCallsBeforeStress = 1500;

bool IsThere(const std::string& where, const HeartbeatState& state) {
  static std::uint64_t calls_before = 0;  // those that are measured
  if (state.phase != Phase::kMeasure) calls_before = state.calls;
  if (where == "launch") {
    return state.phase == Phase::kMeasure && state.point == 3 && state.calls > calls_before;
  }
  if (where == "mid-stress") {
    static std::uint64_t calls = 0;     // so far
    static std::uint64_t verified = 0;  // of them
    const bool verifies =
        state.phase == Phase::kStress && state.step != "replays without verification";
    if (verifies) verified += state.calls - calls;
    calls = state.calls;
    return verifies && verified > kCallsBeforeStress;
  }
  if (where == "transport") return state.step == "the choice of a transport";
  if (where == "set-up") {
    return state.step == "MPI_Win_allocate_shared" || state.step == "cuMemCreate";
  }
  if (where == "first-call") return state.phase == Phase::kCheck && state.point == 0;
  if (where == "mid-sweep") return state.phase == Phase::kMeasure && state.point == 3;
  if (where == "teardown") return state.phase == Phase::kTearDown;
  return where == "report" && state.phase == Phase::kReport;
}

void Act(const std::string& action) {
  if (action == "kill") kill(getpid(), SIGKILL);
  if (action == "stop") kill(getpid(), SIGSTOP);
  if (action == "late") std::this_thread::sleep_for(std::chrono::seconds(3));
  if (action == "never") std::this_thread::sleep_for(std::chrono::hours(1));
}

// MPI_Allgather, after which one bit of one word of the struck rank's output is flipped.
class FlipsABit : public GatherBuffers {
 public:
  FlipsABit(const InstanceContext& context, int rank)
      : GatherBuffers(context),
        stream_(*context.executor.host_stream()),
        strikes_(context.ranks.rank() == rank) {}

  void Enqueue(int slot) override {
    stream_.Launch([this, from = input(slot), to = output(slot)](GridRunner&) {
      const int bytes = static_cast<int>(from.bytes());
      MAILBENCH_MPI(MPI_Allgather(from.data, bytes, MPI_BYTE, to, bytes, MPI_BYTE, ranks().comm()));
      if (strikes_) to->word[3] ^= 1u << 7;
    });
  }

 private:
  HostStream& stream_;
  bool strikes_;
};

// Passes everything on.
class Wrapped : public Instance {
 public:
  explicit Wrapped(std::unique_ptr<Instance> inner) : inner_(std::move(inner)) {}
  void Bind(std::span<const Shape> shapes) override { inner_->Bind(shapes); }
  void Fill(int slot, std::uint64_t call) override { inner_->Fill(slot, call); }
  void Enqueue(int slot) override { inner_->Enqueue(slot); }
  CheckResult Check(int slot) override { return inner_->Check(slot); }
  std::unique_ptr<CallVerifier> MakeVerifier(std::span<const int> batches) override {
    return inner_->MakeVerifier(batches);
  }
  CheckResult Audit() override { return inner_->Audit(); }
  std::string DescribeWait() const override { return inner_->DescribeWait(); }
  TracerOrRefusal MakeTracer(int calls) override { return inner_->MakeTracer(calls); }
  void Free() override { inner_->Free(); }

 protected:
  Instance& inner() { return *inner_; }

 private:
  std::unique_ptr<Instance> inner_;
};

constexpr std::chrono::microseconds kSlow{5};
// More than a scheduler's time slice, since ranks share cores.
constexpr std::chrono::milliseconds kSlowOnHost{20};

void Delay(Executor& executor) {
  if (executor.gpu() != nullptr) {
    executor.EnqueueDelay(kSlow);
  } else {
    executor.EnqueueDelay(kSlowOnHost);
  }
}

// The struck rank begins each call late, a traced one, too.
class Slow : public Wrapped {
 public:
  Slow(std::unique_ptr<Instance> inner, Executor* late) : Wrapped(std::move(inner)), late_(late) {}
  void Enqueue(int slot) override {
    if (late_ != nullptr) Delay(*late_);
    Wrapped::Enqueue(slot);
  }
  TracerOrRefusal MakeTracer(int calls) override {
    TracerOrRefusal made = Wrapped::MakeTracer(calls);
    if (made.tracer == nullptr || late_ == nullptr) return made;
    return {std::make_unique<Tracer>(std::move(made.tracer), *late_), ""};
  }

 private:
  class Tracer : public CallTracer {
   public:
    Tracer(std::unique_ptr<CallTracer> inner, Executor& late)
        : inner_(std::move(inner)), late_(late) {}
    void Enqueue(int slot, int call) override {
      Delay(late_);
      inner_->Enqueue(slot, call);
    }
    std::vector<TraceTimes> Times(int call) override { return inner_->Times(call); }
    MarkClock& clock() override { return inner_->clock(); }

   private:
    std::unique_ptr<CallTracer> inner_;
    Executor& late_;
  };

  Executor* const late_;  // null on the other ranks
};

// The struck rank's device does something for an hour before one of its calls, and looks at no
// abort word meanwhile.
class Endless : public Wrapped {
 public:
  Endless(std::unique_ptr<Instance> inner, Executor& executor)
      : Wrapped(std::move(inner)), executor_(executor) {}
  void Enqueue(int slot) override {
    if (++enqueued_ == kStruck) executor_.EnqueueDelay(std::chrono::hours(1));
    Wrapped::Enqueue(slot);
  }

 private:
  static constexpr int kStruck = 60;

  Executor& executor_;
  int enqueued_ = 0;
};

// Passes everything on; each second audit, the one after timing, finds a word that nobody reset:
// the last of the struck rank's mailbox. It is put back afterwards.
class LeavesAWord : public Wrapped {
 public:
  LeavesAWord(std::unique_ptr<Instance> inner, const InstanceContext& context, int rank)
      : Wrapped(std::move(inner)), context_(context), strikes_(context.ranks.rank() == rank) {}

  CheckResult Audit() override {
    const SymmetricView& view = context_.memory;
    std::byte* last = view.local() + view.bytes - sizeof(std::uint32_t);
    std::uint32_t kept = 0;
    Executor& executor = context_.executor;
    executor.CopyOut(std::as_writable_bytes(std::span(&kept, 1)), last);
    if (strikes_ && ++audits_ % 2 == 0) executor.FillWords(last, 42, 1);
    const CheckResult result = inner().Audit();
    executor.FillWords(last, kept, 1);
    return result;
  }

 private:
  InstanceContext context_;
  bool strikes_;
  int audits_ = 0;
};

// The struck rank's verification is given another word than the call left.
class Plants : public Wrapped {
 public:
  Plants(std::unique_ptr<Instance> inner, std::uint64_t call, int ranks)
      : Wrapped(std::move(inner)), call_(call), ranks_(ranks) {}
  std::unique_ptr<CallVerifier> MakeVerifier(std::span<const int> batches) override {
    PlantedFault fault;
    fault.call = call_;
    fault.pack = ranks_ - 1;  // which the smallest output has
    fault.word = kPackWords - 1;
    fault.flipped = 1u << 7;
    std::unique_ptr<CallVerifier> verifier = Wrapped::MakeVerifier(batches);
    if (verifier != nullptr) verifier->Plant(fault);
    return verifier;
  }

 private:
  std::uint64_t call_;
  int ranks_;
};

class WithFault : public LamportAllGather {
 public:
  explicit WithFault(Fault fault) : fault_(std::move(fault)) {}

  std::unique_ptr<Instance> Create(std::string_view algorithm,
                                   const InstanceContext& context) override {
    if (algorithm == "mpi" && fault_.action == "flip") {
      return std::make_unique<FlipsABit>(context, fault_.rank);
    }
    std::unique_ptr<Instance> faithful = LamportAllGather::Create(algorithm, context);
    if (fault_.action == "leave") {
      return std::make_unique<LeavesAWord>(std::move(faithful), context, fault_.rank);
    }
    if (fault_.action == "plant" && context.ranks.rank() == fault_.rank) {
      return std::make_unique<Plants>(std::move(faithful), std::stoull(fault_.where),
                                      context.ranks.size());
    }
    if (fault_.action == "endless" && context.ranks.rank() == fault_.rank) {
      return std::make_unique<Endless>(std::move(faithful), context.executor);
    }
    if (fault_.action == "slow") {
      return std::make_unique<Slow>(
          std::move(faithful), context.ranks.rank() == fault_.rank ? &context.executor : nullptr);
    }
    return faithful;
  }

 private:
  Fault fault_;
};

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  using mailbench::HeartbeatState;
  if (argc < 4) return 2;
  const mailbench::Fault fault{std::atoi(argv[1]), argv[2], argv[3]};
  argv[3] = argv[0];
  bool acted = mailbench::ReadLauncherEnvironment().rank != fault.rank;
  mailbench::RunHooks hooks;
  hooks.observer = [&](const HeartbeatState& state) {
    if (acted || !mailbench::IsThere(fault.where, state)) return;
    acted = true;
    mailbench::Act(fault.action);
  };
  mailbench::WithFault collective(fault);
  return mailbench::Run(argc - 3, argv + 3, collective, hooks);
}
