// The kernels of a graph, asked of a real driver.
#include <gtest/gtest.h>

#include <vector>

#include "harness/gpu/kernel_names.h"

namespace mailbench {
namespace kernel_names_test {

__global__ void First() {}

template <int kTimes>
__global__ void Second(int* value) {
  *value = kTimes;
}

TEST(KernelNamesGpuTest, NamesEachKernelOnceInOrder) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) GTEST_SKIP() << "no GPU";
  cudaStream_t stream = nullptr;
  int* value = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&value, sizeof *value), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  First<<<1, 1, 0, stream>>>();
  Second<3><<<1, 1, 0, stream>>>(value);
  ASSERT_EQ(cudaMemsetAsync(value, 0, sizeof *value, stream), cudaSuccess);  // no kernel node
  First<<<1, 1, 0, stream>>>();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);

  const std::vector<KernelCount> kernels = KernelsOf(LoadDriver(), graph);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "mailbench::kernel_names_test::First");
  EXPECT_EQ(kernels[0].count, 2);
  EXPECT_EQ(kernels[1].name, "mailbench::kernel_names_test::Second<3>");
  EXPECT_EQ(kernels[1].count, 1);

  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(value), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

}  // namespace kernel_names_test
}  // namespace mailbench
