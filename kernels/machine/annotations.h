// What the compilers need to know about functions that run on a GPU. Compiled by nvcc a protocol
// sees the gpu machine only, compiled by a host compiler the others only, so no function is ever
// both and none of nvcc's cross-calling warnings arise.
#pragma once

#if defined(__CUDACC__)
#define MAILBENCH_DEVICE __device__ __forceinline__
// For layouts and plain values, which launchers and kernels share.
#define MAILBENCH_HOST_DEVICE __host__ __device__ __forceinline__
#define MAILBENCH_UNROLL _Pragma("unroll")
#else
#define MAILBENCH_DEVICE inline
#define MAILBENCH_HOST_DEVICE inline
#define MAILBENCH_UNROLL
#endif
