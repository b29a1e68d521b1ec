// What takes the place of the GPU's algorithms where no CUDA toolkit was found: no transport leads
// here then.
#include <stdexcept>

#include "src/lamport_all_gather/algorithms.h"
#include "src/lamport_all_gather/gather_verifier.h"

namespace mailbench {
namespace {

[[noreturn]] void NotBuilt() { throw std::logic_error("this build has no GPU code"); }

}  // namespace

std::unique_ptr<Instance> MakeGpuGather(const InstanceContext&, GatherKind) { NotBuilt(); }
std::string GpuGatherRefusal(GatherKind, const Shape&, const RunConfig&, const Site&) {
  NotBuilt();
}
std::unique_ptr<Instance> MakeGpuMnnvl(const InstanceContext&, MnnvlVariant) { NotBuilt(); }
std::string GpuMnnvlRefusal(MnnvlVariant, const Shape&, const RunConfig&, const Site&) {
  NotBuilt();
}
std::unique_ptr<Instance> MakeNccl(const InstanceContext&) { NotBuilt(); }
std::unique_ptr<Instance> MakeNcclSymmetric(const InstanceContext&) { NotBuilt(); }
void EnqueueFillOnGpu(Executor&, const CheckedBatch&) { NotBuilt(); }
void EnqueueCheckOnGpu(Executor&, const CheckedBatch&) { NotBuilt(); }

}  // namespace mailbench
