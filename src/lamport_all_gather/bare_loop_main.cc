// The suite and a bare loop time the same gather, in turns, in one process a rank: the same ranks,
// the same mailbox memory, graphs of the same shape. The suite's figure is that of MeasurePoint;
// the loop has nothing of harness/measure: a graph captured by hand, replayed between two CUDA
// events, and the maximum over ranks by MPI.
//
// usage: bare_loop [--tolerance PERCENT] [--turns N] [FLAG]...
//   PERCENT  by which the medians over all turns may differ (default: 2)
//   N        turns (default: 11), of which every other one begins with the loop
//   FLAG     as of lamport_all_gather: --algorithm lamport or overlapped, --bytes with one size,
//            --calls-per-graph, --replays (samples a turn), --ranks-per-gpu, ... The transport is
//            unicast, the mode graph, L2 hot; no file is written.
// Rank 0 prints a line of JSON a turn, with both medians in microseconds a call, and one for all
// turns together. Exit code 1: the medians differ by more than the tolerance. For two ranks or more
// on one GPU: scripts/launch/mps mpirun -np 4 bare_loop --ranks-per-gpu 4 ...
#include <cuda_runtime_api.h>
#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/command_line/values.h"
#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/cuda_handles.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/gpu/gpu_transport.h"
#include "harness/measure/measure_point.h"
#include "harness/measure/statistics.h"
#include "harness/ranks/mpi_ranks.h"
#include "harness/run/agreement.h"
#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/layout.h"
#include "src/lamport_all_gather/lamport_all_gather.h"

namespace mailbench {
namespace {

constexpr int kWarmUp = 20;  // replays of the loop in each turn, thrown away

struct Comparison {
  double tolerance_percent = 2;
  int turns = 11;
};

// Takes the flags of this program out of `args`. Throws UsageError.
Comparison TakeOwnFlags(std::vector<const char*>& args) {
  Comparison comparison;
  for (std::size_t i = 1; i + 1 < args.size();) {
    const std::string flag = args[i];
    if (flag == "--tolerance") {
      comparison.tolerance_percent = ParseDecimal(flag, args[i + 1], 0, 100);
    } else if (flag == "--turns") {
      comparison.turns = static_cast<int>(ParseCount(flag, args[i + 1], 1, 1000));
    } else {
      ++i;
      continue;
    }
    const auto at = args.begin() + static_cast<std::ptrdiff_t>(i);
    args.erase(at, at + 2);
  }
  return comparison;
}

// Throws UsageError for what the loop does not do.
void RequireComparable(const RunConfig& config, const Collective& collective) {
  const std::vector<std::string>& named = config.algorithms;
  if (named.size() != 1 || (named.front() != "lamport" && named.front() != "overlapped")) {
    throw UsageError("--algorithm: the loop is for one of lamport and overlapped");
  }
  if (config.bytes.size() != 1) throw UsageError("--bytes: the loop is for one size");
  for (const FlagInfo& flag : collective.flags()) {
    if (config.own.at(std::string(flag.name)) == flag.standard) continue;
    throw UsageError("--" + std::string(flag.name) + ": the loop has the default alone, " +
                     std::string(flag.standard));
  }
}

// The gather of one point, with a state, inputs and outputs of its own. Between calls a mailbox is
// empty (kernels/PROTOCOLS.md, L1), so that its calls may follow those of the suite in the same one
// when the ranks have met.
class BareLoop {
 public:
  // `memory`: an armed mailbox of config.capacity. Collective.
  BareLoop(const SweepPoint& point, const RunConfig& config, const SymmetricView& memory,
           GpuExecutor& executor, MPI_Comm comm)
      : config_(config), executor_(executor), comm_(comm) {
    const auto padded = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
    const std::int64_t input_bytes = padded(point.key.shape.bytes_per_rank);
    const std::int64_t output_bytes = padded(point.key.shape.bytes_total);
    state_ = executor.Allocate(sizeof(GatherState));
    inputs_ = executor.Allocate(static_cast<std::size_t>(input_bytes * point.l2.slots));
    outputs_ = executor.Allocate(static_cast<std::size_t>(output_bytes * point.l2.slots));
    executor.FillWords(state_->data(), 0, sizeof(GatherState) / sizeof(std::uint32_t));

    AllGatherArgs args;
    args.packs = point.key.shape.bytes_per_rank / kPackBytes;
    args.state = reinterpret_cast<GatherState*>(state_->data());
    args.mailbox.layout = {static_cast<int>(memory.peers.size()), config.capacity / kPackBytes};
    args.mailbox.rank = memory.rank;
    args.mailbox.local = reinterpret_cast<Pack*>(memory.local());
    for (std::size_t peer = 0; peer < memory.peers.size(); ++peer) {
      args.mailbox.peers[peer] = reinterpret_cast<Pack*>(memory.peers[peer]);
    }
    GatherOptions options;
    if (point.key.algorithm == "overlapped") options.kind = GatherKind::kOverlapped;
    options.abort_word = executor.abort_word();

    cudaGraph_t graph = nullptr;
    MAILBENCH_CUDA(cudaStreamBeginCapture(executor.stream(), cudaStreamCaptureModeThreadLocal));
    for (int call = 0; call < config.calls_per_graph; ++call) {
      const std::int64_t slot = call % point.l2.slots;
      args.input = reinterpret_cast<const Pack*>(inputs_->data() + slot * input_bytes);
      args.output = reinterpret_cast<Pack*>(outputs_->data() + slot * output_bytes);
      MAILBENCH_CUDA(LaunchAllGather(args, options, executor.stream()));
    }
    MAILBENCH_CUDA(cudaStreamEndCapture(executor.stream(), &graph));
    graph_ = CudaGraph(graph);
    executable_ = Instantiate(graph);
  }

  // Microseconds a call, of the slowest rank: the same on every rank. Collective.
  std::vector<double> Take() {
    std::vector<double> samples_us;
    for (int replay = -kWarmUp; replay < config_.replays; ++replay) {
      MPI_Barrier(comm_);
      MAILBENCH_CUDA(cudaEventRecord(start_.get(), executor_.stream()));
      MAILBENCH_CUDA(cudaGraphLaunch(executable_.get(), executor_.stream()));
      MAILBENCH_CUDA(cudaEventRecord(stop_.get(), executor_.stream()));
      MAILBENCH_CUDA(cudaEventSynchronize(stop_.get()));
      float milliseconds = 0;
      MAILBENCH_CUDA(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()));
      double slowest = milliseconds;
      MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_);
      if (replay >= 0) samples_us.push_back(slowest * 1e3 / config_.calls_per_graph);
    }
    MPI_Barrier(comm_);  // no rank touches the mailbox otherwise before all are through
    return samples_us;
  }

 private:
  const RunConfig& config_;
  GpuExecutor& executor_;
  MPI_Comm comm_;
  CudaEvent start_ = MakeEvent();
  CudaEvent stop_ = MakeEvent();
  std::unique_ptr<Buffer> state_;
  std::unique_ptr<Buffer> inputs_;
  std::unique_ptr<Buffer> outputs_;
  CudaGraph graph_;
  CudaGraphExec executable_;
};

// Whether the medians agree; the same on every rank. Collective.
bool Compare(const Comparison& comparison, const RunConfig& config, LamportAllGather& collective,
             const Ranks& ranks) {
  HeartbeatSlot slot{};
  Heartbeat heartbeat(&slot);
  CurrentInstance current;
  const std::unique_ptr<Transport> transport = MakeGpuTransport(config, ranks, GpuMemory::kUnicast);
  Executor& executor = transport->executor();
  executor.OnCalls([&](int calls) { heartbeat.CountCalls(static_cast<std::uint64_t>(calls)); });
  const SweepPlan plan = AgreeOnPlan(collective, config, transport->site(), ranks);
  const SweepPoint& point = plan.points.front();
  const std::string& algorithm = point.key.algorithm;
  const auto region =
      transport->Allocate(collective.SymmetricBytes(algorithm, config, transport->site()));
  const auto instance = collective.Create(
      algorithm, {config, ranks, *transport, executor, transport->reference(), region->view()});
  const MeasureContext context = {config,    ranks,  executor, transport->reference(),
                                  heartbeat, current};
  CallCounter calls;
  std::vector<double> suite_us;
  std::vector<double> loop_us;
  {
    BareLoop loop(point, config, region->view(), *executor.gpu(), ranks.comm());
    for (int turn = 0; turn < comparison.turns; ++turn) {
      std::vector<double> own;
      if (turn % 2 == 1) own = loop.Take();
      const PointRecord record = MeasurePoint(point, 0, *instance, calls, context);
      if (record.check.mismatches + record.check.leftover > 0) {
        throw Error(ExitCode::kWrong, record.check.first);
      }
      if (turn % 2 == 0) own = loop.Take();
      suite_us.insert(suite_us.end(), record.samples_us.begin(), record.samples_us.end());
      loop_us.insert(loop_us.end(), own.begin(), own.end());
      if (ranks.rank() != 0) continue;
      std::printf("{\"turn\": %d, \"suite_us\": %.4f, \"loop_us\": %.4f}\n", turn,
                  record.latency_us.p50, Summarize(own).p50);
      std::fflush(stdout);
    }
  }
  instance->Free();
  region->Free();
  transport->Free();
  const double suite = Summarize(suite_us).p50;
  const double loop = Summarize(loop_us).p50;
  if (ranks.rank() == 0) {
    std::printf(
        "{\"point\": \"%s\", \"calls\": %d, \"slots\": %d, \"samples\": %zu, \"suite_us\": %.4f, "
        "\"loop_us\": %.4f, \"ratio\": %.4f, \"tolerance_percent\": %g}\n",
        ToString(point.key).c_str(), config.calls_per_graph, point.l2.slots, suite_us.size(), suite,
        loop, suite / loop, comparison.tolerance_percent);
  }
  return std::abs(suite / loop - 1) * 100 <= comparison.tolerance_percent;
}

int Run(int argc, char** argv, const Ranks& ranks) {
  LamportAllGather collective;
  std::vector<const char*> args(argv, argv + argc);
  Comparison comparison;
  ParsedArguments parsed;
  try {
    comparison = TakeOwnFlags(args);
    parsed = ParseArguments(static_cast<int>(args.size()), args.data(), collective);
    if (parsed.command_line.kind == CommandLine::Kind::kText) throw UsageError("see its source");
    if (parsed.error.empty()) RequireComparable(parsed.command_line.config, collective);
  } catch (const UsageError& error) {
    parsed.error = error.what();
  }
  AgreeOnArguments(parsed, ranks);
  RunConfig config = parsed.command_line.config;
  config.transport = "unicast";
  config.modes = {Mode::kGraph};
  config.l2 = {L2State::kHot};
  return Compare(comparison, config, collective, ranks) ? 0 : 1;
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  mailbench::MpiRanks ranks(&argc, &argv);
  int code = 0;
  try {
    code = mailbench::Run(argc, argv, ranks);
  } catch (const mailbench::Error& error) {
    const bool alone = error.code() == mailbench::ExitCode::kFailed;  // the others wait for it
    if (alone || ranks.rank() == 0) std::fprintf(stderr, "bare_loop: %s\n", error.what());
    code = static_cast<int>(error.code());
    if (alone) MPI_Abort(MPI_COMM_WORLD, code);
  }
  ranks.Finalize();
  return code;
}
