#include "kernels/fabric_floor/gpu_floor.h"
#include "kernels/fabric_floor/protocol.h"
#include "kernels/machine/gpu/dependent_launch.h"
#include "kernels/machine/gpu/gpu_machine.h"

namespace mailbench {
namespace {

constexpr int kMostThreads = (kMaxRanks + 31) / 32 * 32;

__global__ void __launch_bounds__(kMostThreads)
    EmptyKernel(const __grid_constant__ FloorArgs /*args*/, const std::uint32_t* abort_word) {
  GpuMachine m(abort_word);
  FloorEmptyKernel(m);
}

__global__ void __launch_bounds__(kMostThreads)
    HopKernel(const __grid_constant__ FloorArgs args, const std::uint32_t* abort_word) {
  GpuMachine m(abort_word);
  FloorHop(m, args);
}

template <bool kMulticast>
__global__ void __launch_bounds__(kMostThreads)
    PublishKernel(const __grid_constant__ FloorArgs args, const std::uint32_t* abort_word) {
  GpuMachine m(abort_word);
  FloorPublishToAll<GpuMachine, kMulticast>(m, args);
}

using Kernel = void (*)(const FloorArgs, const std::uint32_t*);

Kernel KernelFor(FloorKind kind, bool multicast) {
  switch (kind) {
    case FloorKind::kEmptyKernel:
      return &EmptyKernel;
    case FloorKind::kHop:
      return &HopKernel;
    default:
      return multicast ? &PublishKernel<true> : &PublishKernel<false>;
  }
}

}  // namespace

cudaError_t LaunchFloor(FloorKind kind, const FloorArgs& args, const std::uint32_t* abort_word,
                        cudaStream_t stream) {
  return LaunchDependent(KernelFor(kind, args.multicast != nullptr), 1,
                         FloorThreads(args.layout.ranks), stream, args, abort_word);
}

}  // namespace mailbench
