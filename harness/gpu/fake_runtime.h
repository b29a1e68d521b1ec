// A stand-in for the CUDA runtime, for tests on machines without a GPU: a program that links
// mailbench_fake_runtime gets its functions in the place of the runtime's own. They count what is
// held, and fail where they are told to. Nothing runs.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

namespace mailbench {

struct FakeRuntime {
  int held = 0;    // streams, events, graphs, memory
  int calls = 0;   // that make something or use it
  int fails = -1;  // the call, counted so, that fails
  cudaError_t stream_state = cudaSuccess;
  cudaError_t malloc_error = cudaSuccess;
  int l2_bytes = 0;
  // What was put on streams, with the number of the stream in the order of creation, and waits:
  // "event 0", "kernel 2", "graph 0", "wait 0".
  std::vector<std::string> log = {};
  std::vector<cudaStream_t> streams = {};
  // What a kernel does, with the pointers to its arguments, when it is launched.
  std::function<void(void** arguments)> on_kernel = {};
};
extern FakeRuntime fake_runtime;

}  // namespace mailbench
