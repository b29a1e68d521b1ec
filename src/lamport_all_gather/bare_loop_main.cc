// The gather's kernel timed by a bare loop, to hold the suite's figures against: CUDA events around
// replays of a graph, the maximum over ranks by MPI, and nothing of harness/measure.
//
// usage: bare_loop lamport|overlapped BYTES CAPACITY CALLS REPLAYS SLOTS RANKS_PER_GPU
//   CAPACITY of the mailbox, bytes a rank; CALLS in the graph, which rotate over SLOTS inputs and
//   outputs, each on lines of its own
// Rank 0 prints one line of JSON: the median over REPLAYS, in microseconds a call.
#include <cuda_runtime_api.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/command_line/run_config.h"
#include "harness/error.h"
#include "harness/gpu/cuda_error.h"
#include "harness/gpu/gpu_executor.h"
#include "harness/gpu/gpu_transport.h"
#include "harness/ranks/mpi_ranks.h"
#include "kernels/lamport/gpu_all_gather.h"
#include "kernels/lamport/layout.h"

namespace mailbench {
namespace {

constexpr int kWarmUp = 20;

struct Loop {
  std::string_view algorithm;
  std::int64_t bytes;
  std::int64_t capacity;
  int calls;
  int replays;
  int slots;
};

std::int64_t Padded(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Fills in the mailbox, whose memory is `view`.
AllGatherArgs ArgsFor(const SymmetricView& view, const Loop& loop, std::byte* state) {
  AllGatherArgs args;
  args.packs = loop.bytes / kPackBytes;
  args.state = reinterpret_cast<GatherState*>(state);
  args.mailbox.layout = {static_cast<int>(view.peers.size()), loop.capacity / kPackBytes};
  args.mailbox.rank = view.rank;
  args.mailbox.local = reinterpret_cast<Pack*>(view.local());
  for (std::size_t peer = 0; peer < view.peers.size(); ++peer) {
    args.mailbox.peers[peer] = reinterpret_cast<Pack*>(view.peers[peer]);
  }
  return args;
}

double MedianOfReplays(const Loop& loop, AllGatherArgs args, GpuExecutor& executor, MPI_Comm comm) {
  const int ranks = args.mailbox.layout.ranks;
  const std::int64_t input_bytes = Padded(loop.bytes);
  const std::int64_t output_bytes = Padded(loop.bytes * ranks);
  const auto input = executor.Allocate(static_cast<std::size_t>(input_bytes * loop.slots));
  const auto output = executor.Allocate(static_cast<std::size_t>(output_bytes * loop.slots));
  GatherOptions options;
  if (loop.algorithm == "overlapped") options.kind = GatherKind::kOverlapped;
  options.abort_word = executor.abort_word();

  const cudaStream_t stream = executor.stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  MAILBENCH_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int call = 0; call < loop.calls; ++call) {
    const std::int64_t slot = call % loop.slots;
    args.input = reinterpret_cast<const Pack*>(input->data() + slot * input_bytes);
    args.output = reinterpret_cast<Pack*>(output->data() + slot * output_bytes);
    MAILBENCH_CUDA(LaunchAllGather(args, options, stream));
  }
  MAILBENCH_CUDA(cudaStreamEndCapture(stream, &graph));
  MAILBENCH_CUDA(cudaGraphInstantiate(&executable, graph, 0));

  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  MAILBENCH_CUDA(cudaEventCreate(&start));
  MAILBENCH_CUDA(cudaEventCreate(&stop));
  std::vector<double> samples;
  for (int replay = -kWarmUp; replay < loop.replays; ++replay) {
    MPI_Barrier(comm);
    MAILBENCH_CUDA(cudaEventRecord(start, stream));
    MAILBENCH_CUDA(cudaGraphLaunch(executable, stream));
    MAILBENCH_CUDA(cudaEventRecord(stop, stream));
    MAILBENCH_CUDA(cudaEventSynchronize(stop));
    float milliseconds = 0;
    MAILBENCH_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
    double slowest = milliseconds;
    MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm);
    if (replay >= 0) samples.push_back(slowest * 1e3 / loop.calls);
  }
  MAILBENCH_CUDA(cudaEventDestroy(start));
  MAILBENCH_CUDA(cudaEventDestroy(stop));
  MAILBENCH_CUDA(cudaGraphExecDestroy(executable));
  MAILBENCH_CUDA(cudaGraphDestroy(graph));
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

void Run(const Loop& loop, int ranks_per_gpu, const Ranks& ranks) {
  RunConfig config;
  config.ranks_per_gpu = ranks_per_gpu;
  const std::unique_ptr<Transport> transport = MakeGpuTransport(config, ranks, GpuMemory::kUnicast);
  GpuExecutor& executor = *transport->executor().gpu();
  const MailboxLayout layout{ranks.size(), loop.capacity / kPackBytes};
  const auto region = transport->Allocate(static_cast<std::size_t>(layout.bytes()));
  double median = 0;
  {
    const auto state = executor.Allocate(sizeof(GatherState));
    executor.FillWords(state->data(), 0, sizeof(GatherState) / sizeof(std::uint32_t));
    executor.FillWords(region->view().local(), kSentinel,
                       static_cast<std::size_t>(layout.packs()) * kPackWords);
    ranks.Barrier();
    median =
        MedianOfReplays(loop, ArgsFor(region->view(), loop, state->data()), executor, ranks.comm());
  }
  region->Free();
  transport->Free();
  if (ranks.rank() != 0) return;
  std::printf(
      R"({"algorithm": "%s", "bytes": %lld, "ranks": %d, "calls": %d, "replays": %d, "slots": %d, "p50_us": %.4f})"
      "\n",
      std::string(loop.algorithm).c_str(), static_cast<long long>(loop.bytes),
      ranks.size(),  // NOLINT(google-runtime-int): printf's
      loop.calls, loop.replays, loop.slots, median);
}

}  // namespace
}  // namespace mailbench

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  const mailbench::Loop loop{argv[1],
                             std::atoll(argv[2]),
                             std::atoll(argv[3]),
                             std::atoi(argv[4]),
                             std::atoi(argv[5]),
                             std::atoi(argv[6])};
  mailbench::MpiRanks ranks(&argc, &argv);
  int code = 0;
  try {
    mailbench::Run(loop, std::atoi(argv[7]), ranks);
  } catch (const mailbench::Error& error) {
    std::fprintf(stderr, "bare_loop: %s\n", error.what());
    code = static_cast<int>(error.code());
  }
  ranks.Finalize();
  return code;
}
